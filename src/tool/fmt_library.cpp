// The functions of fmt, compiled once for the tool: in every file, as of its header-only target, they take six seconds
// each. What format.h declares as instantiated elsewhere is instantiated here.

#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
