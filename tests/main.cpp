// Runs the tests that the command line's filters leave. Unlike doctest's own main, it fails when they leave none: a
// misspelt filter would pass. In builds that skip test cases (with sanitizers) it does not, for a filter may leave
// those alone.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <climits>
#include <cstdio>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace {

unsigned left = 0, skipped_in_this_build = 0;

struct counter final : doctest::IReporter {
  explicit counter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override { left = stats.numTestCasesPassingFilters; }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData& test) override { skipped_in_this_build += test.m_skip; }
};

// Freed arrays stay in the process: tests allocate the same ones thousands of times, and where new pages are slow to
// get (virtual machines), simt_choices took eight times as long.
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace

REGISTER_LISTENER("counter", 1, counter);

int main(int argc, char** argv) {
  keep_freed_memory();
  doctest::Context context(argc, argv);
  const int status = context.run();
  if (context.shouldExit() || status != 0 || left > 0 || skipped_in_this_build > 0) return status;
  std::fputs("no test case matches the filters\n", stderr);
  return 1;
}
