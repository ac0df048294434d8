import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { checkAws, commandsOf, copiedCommandsOf, shellBlocks } from './commands.ts'
import { pagesIn, read, root } from './markdown.ts'

const PAGES = ['docs/deploy.md', 'docs/runbook.md', 'docs/backup.md', 'docs/upgrades.md']
const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts

/** Returns what a program prints, and the code with which it ends. */
const outcome = (program: string, args: readonly string[]): Promise<{ code: number; printed: string }> =>
  promisify(execFile)(program, args, { cwd: root }).then(
    ({ stdout }) => ({ code: 0, printed: stdout }),
    ({ code, stderr }) => ({ code, printed: stderr }),
  )

/** Scripts of operators with their arguments, as the pages give them. Comments and other shells' parts are left out. */
const operatorCommands = PAGES.flatMap((page) => commandsOf(read(page), 'npm')).flatMap((command) => {
  const [, name = '', given = ''] = /^npm run (?:--silent )?([\w:-]+)(?: -- ([^>]*))?/.exec(command) ?? []
  const [, file] = /^node (ops\/\S+)$/.exec(scripts[name] ?? '') ?? []
  return file && given ? [[command, file, given.trim().split(/\s+/)] as const] : []
})
/** One for each script, its command and the options: values make no difference. */
const kinds = new Map(
  operatorCommands.map((one) => [
    [one[1], ...one[2].filter((part, i) => i === 0 || part.startsWith('-'))].join(' '),
    one,
  ]),
)

describe.each(PAGES)('the commands of %s', (page) => {
  it('are a shell’s', () => {
    for (const block of shellBlocks(read(page)))
      expect(() => execFileSync('bash', ['-n'], { input: block, stdio: 'pipe' }), block).not.toThrow()
  })

  it('for AWS exist, with their options, and those to copy have all that AWS requires', () => {
    const copied = copiedCommandsOf(read(page))
    const wrong = commandsOf(read(page), 'aws').flatMap((command) => checkAws(command, copied.has(command)))
    expect(wrong).toEqual([])
  })
})

it('the operators’ pages have commands of AWS and of the platform', () => {
  const count = (program: 'aws' | 'npm') => PAGES.flatMap((page) => commandsOf(read(page), program)).length
  expect(count('aws')).toBeGreaterThan(30)
  expect(operatorCommands.length).toBeGreaterThan(15)
})

it('every page with AWS commands is among the operators’ pages', () => {
  const others = [...pagesIn('.'), ...pagesIn('docs')].filter((page) => !PAGES.includes(page))
  expect(others.filter((page) => commandsOf(read(page), 'aws').length > 0)).toEqual([])
})

it.each([...kinds.values()])(
  '%s is understood by its script, which explains it',
  async (_, file, given) => {
    // With --help, a script reads its arguments, but does nothing.
    const { code, printed } = await outcome(process.execPath, [file, ...given, '--help'])
    expect(code, printed).toBe(0)
    const [first = ''] = given
    if (!first.startsWith('-')) expect(printed).toMatch(new RegExp(`\\b${first}\\b`))
  },
  300_000,
)

it('says what is wrong with a command', () => {
  expect(checkAws('aws dynamodb update-table --tabel-name X', true)).toEqual([
    'aws dynamodb update-table: no --tabel-name',
    'aws dynamodb update-table: needs --table-name',
  ])
  expect(checkAws('aws dynamodb shrink-table', false)[0]).toContain('not in')
})
