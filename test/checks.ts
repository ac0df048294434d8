import { spawn } from 'node:child_process'
import path from 'node:path'

export type Check = [name: string, command: string, ...args: string[]]

/** Types of the API, which other sources import and nobody commits. */
export const CLIENT_TYPES: Check = ['types of the API for clients', 'node', 'openapi/client-types.ts']

/** Checks of the sources. */
export const SOURCES: Check[] = [
  ['format and lint', 'biome', 'ci', '--max-diagnostics=40'],
  // Several checkers repeat each other's work, and the tests need the other core.
  ['types', 'tsc', '--project', '.', '--singleThreaded'],
  ['types of the pages', 'tsc', '--project', 'web', '--singleThreaded'],
  ['dead code and dependencies', 'knip'],
]

/** Keeps colours out of files: some tools add them whenever CI is set. */
const env = {
  ...process.env,
  // Tests start many processes and threads from the same sources.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.resolve('node_modules/.cache/node'),
  // The type checker is a Go program, and collects garbage less often this way, at the same peak of memory.
  GOGC: process.env.GOGC ?? '400',
  CDK_OUTDIR: process.env.CDK_OUTDIR ?? 'cdk.out',
  ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
}

/** Runs a command. */
export const run = (
  command: string,
  args: readonly string[],
  stdio: 'inherit' | 'pipe',
  variables: NodeJS.ProcessEnv = {},
): Promise<{ ok: boolean; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', stdio, stdio], env: { ...env, ...variables } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => (output += piece))
    child.once('error', reject)
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })

/** Runs checks in order, and prints the output of those that fail. @returns the number of failed checks */
export const runChecks = async (checks: readonly Check[]): Promise<number> => {
  let failed = 0
  for (const [name, command, ...args] of checks) {
    const began = performance.now()
    const { ok, output } = await run(command, args, 'pipe')
    if (!ok) failed++
    const words = ok ? 'ok  ' : `${output}\nFAIL`
    console.log(`${words} ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
  }
  return failed
}
