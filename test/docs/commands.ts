import { readFileSync } from 'node:fs'

type Known = { options: string[]; required: string[] }

const KNOWN: Record<string, Known> = JSON.parse(readFileSync(new URL('aws-options.json', import.meta.url), 'utf8'))

/** Options of the CLI itself, and those of its pagination. */
const EVERYWHERE = new Set(['query', 'output', 'region', 'profile', 'max-items', 'page-size', 'starting-token'])

/** Finds the blocks of shell commands in a page. */
export const shellBlocks = (page: string): string[] =>
  [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** Finds what a page names as a command in its text. */
const inlineCommands = (page: string): string[] =>
  [...page.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`((?:aws|npm|npx) [^`]+)`/g)].map(([, command = '']) =>
    command.replaceAll(/\s+/g, ' '),
  )

/** Splits shell text into simple commands, those in substitutions first. Quoted texts become `''`. */
const simpleCommands = (text: string): string[] => {
  let rest = text
    .replaceAll('\\\n', ' ')
    .replaceAll(/'[^']*'/g, "''")
    .replaceAll(/(^|\s)#.*$/gm, '')
  const found: string[] = []
  for (let inner = /\$\(([^()]*)\)/.exec(rest); inner; inner = /\$\(([^()]*)\)/.exec(rest)) {
    found.push(inner[1] ?? '')
    rest = rest.replace(inner[0], 'X')
  }
  return [...found, ...rest.replaceAll(/"[^"]*"/g, "''").split(/\n|&&|\||;|, or |, and /)].map((one) => one.trim())
}

/** Lists the commands of one program in a page. @param inline whether to include those that only name a command */
export const commandsOf = (page: string, program: 'aws' | 'npm' | 'npx'): string[] => [
  ...new Set(
    [...shellBlocks(page), ...inlineCommands(page)]
      .flatMap(simpleCommands)
      .filter((command) => command.startsWith(`${program} `)),
  ),
]

/** Lists the commands that a page has in its blocks, which an operator copies whole. */
export const copiedCommandsOf = (page: string): Set<string> => new Set(shellBlocks(page).flatMap(simpleCommands))

/**
 * Checks a command of the AWS CLI.
 * @param whole whether it has to have every option that AWS requires
 * @returns what is wrong with it
 */
export const checkAws = (command: string, whole: boolean): string[] => {
  const [, name = ''] = /^aws ([a-z0-9-]+ (?:wait )?[a-z0-9-]+)/.exec(command) ?? []
  const known = KNOWN[name]
  if (known === undefined) return [`aws ${name}: not in test/docs/aws-options.json`]
  const given = [...command.matchAll(/(?<=\s)--([a-z0-9-]+)/g)].map(([, option = '']) => option)
  const unknown = given.filter((option) => !known.options.includes(option) && !EVERYWHERE.has(option))
  const missing = whole
    ? known.required.filter((option) => !given.includes(option) && !given.includes(`no-${option}`))
    : []
  return [...unknown.map((one) => `aws ${name}: no --${one}`), ...missing.map((one) => `aws ${name}: needs --${one}`)]
}

/** Finds what is wrong with the AWS commands in a text that isn't Markdown. */
export const checkAwsIn = (text: string): string[] =>
  simpleCommands(text)
    .filter((command) => command.startsWith('aws '))
    .flatMap((command) => checkAws(command, true))
