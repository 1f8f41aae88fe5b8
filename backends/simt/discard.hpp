#pragma once

namespace twill::simt {

/// The threads of this block read shared memory that none of them wrote, and discard what they read or keep only the
/// written bytes of its words: checks shall not report that. Called before the barrier behind which they read.
void discards_unwritten();

}  // namespace twill::simt
