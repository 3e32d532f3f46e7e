/** The shells that have a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Completion scripts. Each one asks `toolmgr complete` for the words that may follow, one per line with a description after
 * a tab, so the scripts need no change when commands do. Words are passed as arguments and never evaluated.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# toolmgr completion for bash: source <(toolmgr completion bash)
_toolmgr() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(toolmgr complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _toolmgr toolmgr
`,
  zsh: `#compdef toolmgr
# toolmgr completion for zsh: source <(toolmgr completion zsh)
_toolmgr() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(toolmgr complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe 'toolmgr' found; else _files; fi
}
compdef _toolmgr toolmgr
`,
  fish: `# toolmgr completion for fish: toolmgr completion fish | source
function __toolmgr_complete
  set -l words (commandline -opc) (commandline -ct)
  toolmgr complete -- $words[2..-1] 2>/dev/null
end
complete -c toolmgr -a '(__toolmgr_complete)'
`,
  // before 7.3 PowerShell drops empty arguments, so a new word is announced by a flag
  powershell: `# toolmgr completion for PowerShell: toolmgr completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName toolmgr -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $before = $commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition }
  $words = @($before | Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
  $flags = if ($wordToComplete -eq '') { @('--new') } else { @() }
  toolmgr complete @flags -- @words 2>$null | ForEach-Object {
    $value, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
`,
};
