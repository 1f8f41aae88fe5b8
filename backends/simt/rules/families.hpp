#pragma once

// One line a family; each is defined in a file of its own.

#include "backends/simt/access_rules.hpp"

namespace twill::simt::rules {

extern const access_rules tesla_1_0;  ///< compute capability 1.0, 1.1: G80
extern const access_rules tesla_1_2;  ///< compute capability 1.2, 1.3: GT200
extern const access_rules fermi;      ///< 2.x
extern const access_rules kepler;     ///< 3.x
extern const access_rules maxwell;    ///< 5.x, 6.x
extern const access_rules volta;      ///< 7.x to 9.x
extern const access_rules gcn;        ///< gfx906, gfx908, gfx90a: wave64
extern const access_rules cdna3;      ///< gfx942
extern const access_rules cdna4;      ///< gfx950: 64 banks
extern const access_rules rdna;       ///< gfx1030, gfx1100: wave32

}  // namespace twill::simt::rules
