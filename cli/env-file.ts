import { chmodSync, readFileSync, writeFileSync } from 'node:fs'

/** Sets variables in a file of `NAME=value` lines that only its owner can read. Other lines stay. */
export const setInEnvFile = (file: string, variables: Record<string, string>): void => {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const lines = text.split('\n').filter((line) => !Object.keys(variables).some((name) => line.startsWith(`${name}=`)))
  while (lines.at(-1) === '') lines.pop()
  const added = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  writeFileSync(file, `${[...lines, ...added].join('\n')}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
}
