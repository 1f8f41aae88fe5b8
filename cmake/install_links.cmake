# Run by the installation, after the documents are there: makes their links to headers and datasheets
# lead to the installed ones, and turns those to the rest of the source tree into plain text.
#   twill_DOCDIR, twill_INCLUDEDIR, twill_DATADIR: full paths

set(doc "$ENV{DESTDIR}${twill_DOCDIR}")
file(GLOB pages "${doc}/*.md" "${doc}/docs/*.md")
foreach(page IN LISTS pages)
  get_filename_component(folder "${page}" DIRECTORY)
  file(RELATIVE_PATH include "${folder}" "$ENV{DESTDIR}${twill_INCLUDEDIR}/twill")
  file(RELATIVE_PATH data "${folder}" "$ENV{DESTDIR}${twill_DATADIR}/twill")
  set(root "")
  if(folder MATCHES "/docs$")
    set(root "\\.\\./")
  endif()
  file(READ "${page}" text)
  string(REGEX REPLACE "\\]\\(${root}include/twill" "](${include}" text "${text}")
  string(REGEX REPLACE "\\]\\(${root}presets/(devices|schemas)/" "](${data}/\\1/" text "${text}")
  string(REGEX REPLACE
    "\\[([^][]*)\\]\\(${root}(backends|cmake|examples|presets|scripts|src|tests|CONTRIBUTING)[/.][^)]*\\)"
    "\\1" text "${text}")
  file(WRITE "${page}" "${text}")
endforeach()
