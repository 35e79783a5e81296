// The scripts: each asks the program itself, so they never grow old.

const bash = `# carillon completion for bash
_carillon() {
  local IFS=$'\\n'
  COMPREPLY=($(carillon complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _carillon carillon
`

const zsh = `#compdef carillon
# carillon completion for zsh
_carillon() {
  local -a found
  found=("\${(@f)$(carillon complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $found
}
compdef _carillon carillon
`

const fish = `# carillon completion for fish
function __carillon_complete
  set -l words (commandline -opc) (commandline -ct)
  carillon complete -- $words[2..-1] 2>/dev/null
end
complete -c carillon -f -a '(__carillon_complete)'
`

export const scripts = { bash, zsh, fish } as const
