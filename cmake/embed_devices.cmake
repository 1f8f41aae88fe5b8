# twill_embed_devices(OUT JSON...): a C++ source, written at build time, that holds the datasheets; declared in
# backends/simt/models.hpp. With -P it is the script that writes the source.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(twill_embed_devices out)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/models_embedded.cpp")
    list(JOIN ARGN "|" joined)
    add_custom_command(OUTPUT "${source}"
      COMMAND "${CMAKE_COMMAND}" "-DFILES=${joined}" "-DTO=${source}" -P "${TWILL_ROOT}/cmake/embed_devices.cmake"
      DEPENDS ${ARGN} "${TWILL_ROOT}/cmake/embed_devices.cmake"
      COMMENT "Embedding the datasheets of the simulated devices"
      VERBATIM)
    set(${out} "${source}" PARENT_SCOPE)
  endfunction()
  return()
endif()

string(REPLACE "|" ";" files "${FILES}")
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" json)
  string(LENGTH "${json}" length)
  if(length GREATER 60000 OR json MATCHES "\\)json\"")
    message(FATAL_ERROR "${file} cannot be a C++ literal (60,000 characters at most, and no )json\" in it).")
  endif()
  string(APPEND entries "    {\"${name}\", R\"json(${json})json\"},\n")
endforeach()
file(WRITE "${TO}" "#include \"backends/simt/models.hpp\"

namespace twill::simt {

const embedded_model embedded_models[] = {
${entries}};
const std::size_t embedded_model_count = sizeof embedded_models / sizeof *embedded_models;

}  // namespace twill::simt
")
