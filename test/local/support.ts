import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Platform, type PlatformOptions, startPlatform } from '#local/platform.ts'
import { scratchFolder } from '#testkit/scratch.ts'

/** Folder of the fixture's bundles, like `dist/functions` of the platform. */
export const FIXTURE_BUNDLES = path.join(import.meta.dirname, 'fixtures', 'functions')

const source = path.join(import.meta.dirname, 'fixtures', 'app.ts')

/** The fixture's cloud assembly, synthesized once per version of its source. */
export const fixtureAssembly = async (): Promise<string> => {
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16)
  const target = path.join(tmpdir(), `local-run-fixture-${hash}`)
  if (existsSync(target)) return target
  const { synthFixture } = await import('./fixtures/app.ts')
  const made = mkdtempSync(path.join(tmpdir(), 'local-run-synth-'))
  synthFixture(made)
  try {
    renameSync(made, target)
  } catch {
    // Another test file was faster.
    rmSync(made, { recursive: true, force: true })
  }
  return target
}

/** Creates a folder that is removed when the returned function is called. */
export const temporaryFolder = () => scratchFolder('local-run-')

/** Starts the fixture's platform in a folder. */
export const startFixture = async (dataDir: string, options: Partial<PlatformOptions> = {}): Promise<Platform> =>
  startPlatform({ dataDir, cdkOut: await fixtureAssembly(), bundles: FIXTURE_BUNDLES, ...options })

/** Repeats `ask` until it returns a value. */
export const until = async <T>(ask: () => Promise<T | undefined> | T | undefined, timeoutMs = 120_000): Promise<T> => {
  const end = Date.now() + timeoutMs
  while (Date.now() < end) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`nothing came within ${timeoutMs} ms`)
}
