#pragma once

// Everything in libtwill but <twill/cuda.hpp> and <twill/hip.hpp>, which name the vendors' streams. The simulator
// (<twill/simt.hpp>, <twill/profile.hpp>) and the ladders (<twill/ladder/...>) are libraries of their own.
#include <twill/buffer.hpp>
#include <twill/copy.hpp>
#include <twill/device.hpp>
#include <twill/element.hpp>
#include <twill/error.hpp>
#include <twill/event.hpp>
#include <twill/explain.hpp>
#include <twill/extent.hpp>
#include <twill/fill.hpp>
#include <twill/global_transpose.hpp>
#include <twill/permute.hpp>
#include <twill/reduce.hpp>
#include <twill/reverse.hpp>
#include <twill/scan.hpp>
#include <twill/scratch.hpp>
#include <twill/stream.hpp>
#include <twill/team.hpp>
#include <twill/transpose.hpp>
#include <twill/transpose_in_place.hpp>
#include <twill/version.hpp>
