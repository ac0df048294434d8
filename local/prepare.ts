import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { unitNames } from '#functions/units.ts'
import type { BuildMessage } from './build.ts'

/** Root folder of the repository. */
export const ROOT = path.resolve(import.meta.dirname, '..')
/** Output folder of the bundles. */
export const BUNDLES = path.join(ROOT, 'dist', 'functions')

const INPUTS = ['infra', 'functions', 'shared', 'openapi', 'web', 'examples/sdk', 'cdk.json', 'package-lock.json']
const OUTPUTS = [path.relative(ROOT, BUNDLES)]
const FINGERPRINT = 'fingerprint'
const WITH_MAPS = 'source maps'

const filesOf = (entry: string): string[] => {
  const file = path.join(ROOT, entry)
  if (!existsSync(file)) return []
  if (!statSync(file).isDirectory()) return [entry]
  return readdirSync(file, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.relative(ROOT, path.join(each.parentPath, each.name)))
    .sort()
}

/** Hashes the names, sizes and times of files. */
const fingerprint = (entries: string[]): string => {
  const hash = createHash('sha256')
  for (const file of entries.flatMap(filesOf)) {
    const { size, mtimeMs } = statSync(path.join(ROOT, file))
    hash.update(`${file} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/** Creates placeholders. Synth only checks that each bundle exists, so it need not wait for the first build. */
const reserveBundles = () => {
  for (const name of unitNames()) {
    const file = path.join(BUNDLES, name, 'index.cjs')
    mkdirSync(path.dirname(file), { recursive: true })
    if (!existsSync(file)) writeFileSync(file, '')
  }
}

/** Ends a process and, if the system supports groups, its children. */
const endGroup = (child: ChildProcess) => {
  try {
    if (process.platform === 'win32' || !child.pid) child.kill()
    else process.kill(-child.pid)
  } catch {
    // The process has already ended.
  }
}

/** Starts one of the repository's programs. It ends with this process or on `signal`, including its children. */
const startProgram = (file: string, args: string[], env: NodeJS.ProcessEnv, signal: AbortSignal | undefined) => {
  const child = spawn(process.execPath, [path.join(ROOT, file), ...args], {
    cwd: ROOT,
    // The sources are stripped of their types and compiled once.
    env: { NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/node'), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: process.platform !== 'win32',
  })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => output.push(piece))
  const end = () => endGroup(child)
  process.once('exit', end)
  signal?.addEventListener('abort', end)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.removeListener('exit', end)
      signal?.removeEventListener('abort', end)
      resolve(code)
    })
  })
  return { child, ended, output: () => Buffer.concat(output).toString('utf8').trim() }
}

/**
 * Synthesizes the stacks of the stage `local` in a separate process.
 *
 * @throws Error with the app's output when it fails
 */
const synth = async (cdkOut: string, signal: AbortSignal | undefined): Promise<void> => {
  const { context = {} } = JSON.parse(readFileSync(path.join(ROOT, 'cdk.json'), 'utf8')) as { context?: object }
  // Bundles run from their output folder. Copies would only become stale.
  const CDK_CONTEXT_JSON = JSON.stringify({ ...context, 'aws:cdk:disable-asset-staging': true })
  const env = { ...process.env, CDK_CONTEXT_JSON, CDK_OUTDIR: cdkOut, DEPLOY_STAGE: 'local' }
  const { ended, output } = startProgram('infra/app.ts', [], env, signal)
  const code = await ended
  if (code !== 0) throw new Error(`infra/app.ts failed (code ${code}):\n${output()}`)
}

/**
 * Builds the bundles in a separate process, which stays when watching. Resolves once they are built.
 *
 * @throws Error with esbuild's messages
 */
const build = async ({ watch, sourceMaps, signal }: PrepareOptions): Promise<void> => {
  const args = [...(watch ? ['--watch'] : []), ...(sourceMaps ? ['--source-maps'] : [])]
  // esbuild is written in Go. With less frequent garbage collection, it takes a tenth less time.
  const env = { GOGC: '400', ...process.env }
  const { child, ended, output } = startProgram('local/build.ts', args, env, signal)
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message: BuildMessage) => {
      if (message.kind === 'built') resolve()
      else if (message.kind === 'failed') reject(new Error(message.message))
      else if (message.kind === 'changed') watch?.onChange(message.names)
      else watch?.onError(message.messages)
    })
    ended.then((code) => reject(new Error(`The build failed with code ${code}:\n${output()}`)), reject)
  })
  if (!watch) await ended
}

/** Options of the build. */
export interface PrepareOptions {
  /** Output folder of the cloud assembly. */
  cdkOut: string
  /** Keeps watching and reports each bundle that a rebuild changed. */
  watch?: {
    onChange: (names: string[]) => void
    onError: (messages: string[]) => void
  }
  /** Also writes source maps, for profiles. */
  sourceMaps?: boolean
  /** Ends the build and the watching. */
  signal?: AbortSignal
}

/**
 * Builds the bundles and synthesizes the stacks in parallel. Does neither if nothing has changed since the last time.
 *
 * @returns true if anything had to be done
 * @throws Error with esbuild's or the CDK app's messages
 */
export const prepare = async (options: PrepareOptions): Promise<boolean> => {
  const { cdkOut, watch, sourceMaps, signal } = options
  const file = path.join(cdkOut, FINGERPRINT)
  // Taken before the build, so that files edited in the meantime are built the next time.
  const inputs = fingerprint(INPUTS)
  const [before, ...extras] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const current = before === `${inputs} ${fingerprint(OUTPUTS)}`
  if (current && !watch && (!sourceMaps || extras.includes(WITH_MAPS))) return false
  reserveBundles()
  await Promise.all([build(options), current ? undefined : synth(cdkOut, signal)])
  writeFileSync(file, [`${inputs} ${fingerprint(OUTPUTS)}`, ...(sourceMaps ? [WITH_MAPS] : [])].join('\n'))
  return true
}
