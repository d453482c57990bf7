# cmake -DOUT=FILE.cpp -DDEFS=a/tensors.json|b/tensors.json -P K3EmbedDefs.cmake: writes the definitions as string literals.
string(REPLACE "|" ";" DEFS "${DEFS}")
set(entries "")
foreach(def IN LISTS DEFS)
  get_filename_component(folder "${def}" DIRECTORY)
  get_filename_component(family "${folder}" NAME)
  file(READ "${def}" text)
  string(APPEND entries "    {\"${family}\", R\"k3def(${text})k3def\"},\n")
endforeach()
file(WRITE "${OUT}.new"
"// Generated from model-defs/*/tensors.json.
#include \"compiler/import/EmbeddedDefs.h\"

namespace k3 {

std::span<const EmbeddedDef> embeddedDefs() {
  static constexpr EmbeddedDef defs[] = {
${entries}  };
  return defs;
}

} // namespace k3
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUT}.new")
