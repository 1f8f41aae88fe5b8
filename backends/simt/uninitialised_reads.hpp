#pragma once

namespace twill::simt {

/// Lets this block read uninitialised shared memory without a report of the checks: its threads discard what they read,
/// or keep the written bytes of its words alone. Called before the barrier that precedes the reads.
void allow_uninitialised_reads();

}  // namespace twill::simt
