#pragma once

// Everything but the vendor interoperation headers, <twill/cuda.hpp> and <twill/hip.hpp>.
#include <twill/buffer.hpp>
#include <twill/copy.hpp>
#include <twill/device.hpp>
#include <twill/element.hpp>
#include <twill/error.hpp>
#include <twill/event.hpp>
#include <twill/ladder/array.hpp>
#include <twill/ladder/reduce.hpp>
#include <twill/ladder/transpose.hpp>
#include <twill/permute.hpp>
#include <twill/profile.hpp>
#include <twill/reduce.hpp>
#include <twill/reverse.hpp>
#include <twill/scan.hpp>
#include <twill/sieve.hpp>
#include <twill/stream.hpp>
#include <twill/transpose.hpp>
#include <twill/transpose_in_place.hpp>
#include <twill/version.hpp>
