import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildCliPackage } from '#ops/cli-package.ts'
import { scratchFolder } from '#testkit/scratch.ts'

const run = promisify(execFile)
const { folder, remove } = scratchFolder('completion-')
beforeAll(async () => {
  await buildCliPackage(path.join(folder, 'tool'))
  const command = path.join(folder, 'aip')
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${folder}/tool/aip.js' "$@"\n`)
  chmodSync(command, 0o755)
})
afterAll(() => remove())

/** Programs that source the script as the tool's help says, and ask for suggestions. */
const SHELLS = {
  bash: [
    '--norc',
    '-c',
    `source <(aip completion bash); COMP_WORDS=(aip runs ''); COMP_CWORD=2; _aip; echo "\${COMPREPLY[0]}"; COMP_WORDS=(aip pub); COMP_CWORD=1; _aip; echo "\${COMPREPLY[0]}"`,
  ],
  zsh: [
    '-f',
    '-c',
    `source <(aip completion zsh); [ "$_comps[aip]" = _aip ] || exit 1
     compadd() { shift; print -l -- "$@" }
     words=(aip runs ''); CURRENT=3; _aip | head -1; words=(aip pub); CURRENT=2; _aip | grep '^pub'`,
  ],
  fish: [
    '-N',
    '-c',
    `aip completion fish > $HOME/aip.fish; source $HOME/aip.fish; complete -C 'aip runs sho'; complete -C 'aip pub'`,
  ],
}

describe.each(Object.entries(SHELLS))('%s', (shell, args) => {
  it.runIf(spawnSync(shell, ['--version']).status === 0)('sources the script and suggests commands', async () => {
    const env = { HOME: folder, PATH: `${folder}:${process.env.PATH}` }
    const { stdout, stderr } = await run(shell, args, { cwd: folder, env })
    expect([stdout.trim().split(/\s+/), stderr]).toEqual([['show', 'publish'], ''])
  })
})
