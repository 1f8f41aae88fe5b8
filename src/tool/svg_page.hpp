#pragma once

#include <string>
#include <vector>

namespace twill::tool {

/// The colour of a load relative to the ideal, on one scale for all pictures: pale blue up to 1.1, then from pale
/// yellow over orange to dark red for 32 and more; grey for 0, which is unused.
std::string heat_color(double ratio);

/// An SVG page, filled from top to bottom, that scales (viewBox) and follows the viewer's colour scheme.
class svg_page {
 public:
  static constexpr double width = 1100, margin = 24, line_height = 16;

  enum class style { heading, body, muted, code };

  /// Text at `x` and the current height; it does not move on.
  void text(double x, const std::string& words, style as = style::body, const char* anchor = "start");
  /// The same from the left margin, in as many lines as it needs; moves on.
  void paragraph(const std::string& words, style as = style::body);
  /// A filled cell at the current height, `down` below it.
  void cell(double x, double down, double cell_width, double height, const std::string& color,
            const std::string& tooltip);
  /// An outline around cells.
  void frame(double x, double down, double frame_width, double height);
  void skip(double height) { y_ += height; }

  /// What the colours mean.
  void legend(const std::string& words);

  std::string svg(const std::string& title) const;

 private:
  std::string body_;
  double y_ = margin;
};

/// `words` in lines of at most `columns` characters, broken at blanks where there are any, nothing cut off.
std::vector<std::string> folded(const std::string& words, std::size_t columns);

}  // namespace twill::tool
