import { describe, expect, it } from 'vitest'
import { runCommand } from '#testkit/command.ts'
import { sampleOf } from '#testkit/sampling.ts'

const COMMANDS = [
  ...['admin', 'deploy', 'keys', 'preflight', 'redrive', 'settings', 'telegram', 'upgrade'].map(
    (name) => `ops/${name}.ts`,
  ),
  'bench/run.ts',
  'examples/demo/run.ts',
  'test/deploy/run.ts',
  'test/fuzz/run.ts',
  'test/shapes/record.ts',
]

/** Each test starts a process. */
const SAMPLE = sampleOf(COMMANDS, 6)

describe.each(SAMPLE)('%s', (file) => {
  it('refuses an unknown option in one line, with exit code 2', async () => {
    expect(await runCommand(file, ['--no-such-option=value'])).toEqual({
      code: 2,
      output: "Unknown option '--no-such-option'. Use --help to see what this command takes.\n",
    })
  })

  it('prints its help', async () => {
    const { code, output } = await runCommand(file, ['--help'])
    expect([code, output]).toEqual([0, expect.stringMatching(/^npm run [\w:]+/)])
  })
})

it('refuses an option without its value in one line as well', async () => {
  const { code, output } = await runCommand('ops/redrive.ts', ['--queue', '--all'])
  expect([code, output]).toEqual([
    2,
    expect.stringMatching(/^Option '--queue.* Use --help to see what this command takes\.\n$/),
  ])
})
