#pragma once

/// Marks what a shared library of Twill exports: each function that is declared here and defined in a library, and each
/// class that has such members or is thrown.
#define TWILL_API __attribute__((visibility("default")))
