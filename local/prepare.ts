import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { unitNames } from '#functions/units.ts'
import { PARTS, type Part, SERVED } from '#infra/bundle/prebuild.ts'
import type { BuildMessage } from './build.ts'

/** Root folder of the repository. */
export const ROOT = path.resolve(import.meta.dirname, '..')
/** Output folder of the bundles as they are deployed, each by itself. */
export const BUNDLES = path.join(ROOT, 'dist', 'functions')
/** Output folder of the bundles that are built together, for `npm start`. */
export const LOCAL_BUNDLES = path.join(ROOT, 'dist', 'local')

const INPUTS = [
  'infra',
  'functions',
  'shared',
  'openapi',
  'web',
  'examples/sdk',
  'docs/guides',
  'cli',
  'packages',
  'ops/cli-package.ts',
  'ops/packages',
  'ops/packages.ts',
  'ops/sdk-package.ts',
  'CHANGELOG.md',
  'LICENSE',
  'cdk.json',
  'package.json',
  'package-lock.json',
]
/** Folders below `dist` that each kind of build writes. */
const OUTPUTS = { functions: ['functions'], local: ['local', 'chunks', ...Object.values(SERVED).flat()] }
const FINGERPRINT = 'fingerprint'
const WITH_MAPS = 'source maps'

/** Files that the build itself writes among the sources of the SDKs and of the developer portal. */
const GENERATED = /^packages[\\/].*[\\/](api\.d\.ts|tools\.d\.ts|events\.py)$|^web[\\/].*[\\/]rights\.ts$/

const filesOf = (entry: string): string[] => {
  const file = path.join(ROOT, entry)
  if (!existsSync(file)) return []
  if (!statSync(file).isDirectory()) return [entry]
  return readdirSync(file, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.relative(ROOT, path.join(each.parentPath, each.name)))
    .filter((file) => !GENERATED.test(file))
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
    const file = path.join(LOCAL_BUNDLES, name, 'index.cjs')
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
    env,
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
 * @returns a function that has the process build what `pages` and `packages` serve, if all bundles are built together. Its result is
 * false if a part failed
 * @throws Error with the bundler's messages
 */
const build = async (options: PrepareOptions): Promise<(() => Promise<boolean>) | undefined> => {
  const { together, watch, sourceMaps, onPart, signal } = options
  const flags = { '--together': together, '--watch': watch, '--source-maps': sourceMaps }
  const args = Object.entries(flags).flatMap(([flag, given]) => (given ? [flag] : []))
  const { child, ended, output } = startProgram('local/build.ts', args, process.env, signal)
  const bundles = Promise.withResolvers<void>()
  const parts = Promise.withResolvers<void>()
  const outdated = new Set<Part>(PARTS)
  child.on('message', (message: BuildMessage) => {
    if (message.kind === 'built') bundles.resolve()
    else if (message.kind === 'failed') bundles.reject(new Error(message.message))
    else if (message.kind === 'parts') parts.resolve()
    else if (message.kind === 'changed') watch?.onChange(message.names)
    else if (message.kind === 'errors') watch?.onError(message.messages)
    else {
      if (message.error === undefined) outdated.delete(message.part)
      onPart?.(message.part, message.error)
    }
  })
  ended
    .then((code) => Promise.reject(new Error(`The build failed with code ${code}:\n${output()}`)))
    .catch((error) => {
      bundles.reject(error)
      parts.reject(error)
    })
  parts.promise.catch(() => undefined)
  await bundles.promise
  if (!together) {
    await ended
    return undefined
  }
  return async () => {
    // If the process has ended, that rejects the promise.
    child.send('parts', () => undefined)
    await parts.promise.catch(({ message }) => {
      for (const part of outdated) onPart?.(part, message)
    })
    return outdated.size === 0
  }
}

/** Options of the build. */
export interface PrepareOptions {
  /** Output folder of the cloud assembly. */
  cdkOut: string
  /** Builds {@link LOCAL_BUNDLES}, not {@link BUNDLES}. */
  together?: boolean
  /** Keeps watching and reports each bundle that a rebuild changed. Needs `together`. */
  watch?: {
    onChange: (names: string[]) => void
    onError: (messages: string[]) => void
  }
  /** Called when a part of what `pages` and `packages` serve has been built, with the messages if that failed. Needs `together`. */
  onPart?: (part: Part, error?: string) => void
  /** Also writes source maps, for profiles. */
  sourceMaps?: boolean
  /** Ends the build and the watching. */
  signal?: AbortSignal
}

const readStamp = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/**
 * Builds the bundles and synthesizes the stacks in parallel. Does neither if nothing has changed since the last time.
 *
 * @returns a function that builds what `pages` and `packages` serve, if that is still to be done (`together`): the API can start
 * before. Its result is false if a part failed
 * @throws Error with the bundler's or the CDK app's messages
 */
export const prepare = async (options: PrepareOptions): Promise<(() => Promise<boolean>) | undefined> => {
  const { cdkOut, together, watch, sourceMaps, signal } = options
  const kind = together ? 'local' : 'functions'
  const files = {
    built: path.join(ROOT, 'dist', `${kind}.${FINGERPRINT}`),
    synthesized: path.join(cdkOut, FINGERPRINT),
  }
  // Taken before the build, so that files edited in the meantime are built the next time.
  const inputs = fingerprint(INPUTS)
  const stamp = () => `${inputs} ${fingerprint(OUTPUTS[kind].map((name) => path.join('dist', name)))}`
  const [before, maps] = readStamp(files.built).split('\n')
  const isBuilt = before === stamp() && !watch && (!sourceMaps || maps === WITH_MAPS)
  const isSynthesized = readStamp(files.synthesized) === inputs
  if (isBuilt && isSynthesized) return undefined
  const saveStamp = () => writeFileSync(files.built, [stamp(), ...(sourceMaps ? [WITH_MAPS] : [])].join('\n'))
  reserveBundles()
  const [buildParts] = await Promise.all([
    isBuilt ? undefined : build(options),
    isSynthesized ? undefined : synth(cdkOut, signal),
  ])
  writeFileSync(files.synthesized, inputs)
  if (buildParts) {
    return async () => {
      const isComplete = await buildParts()
      if (isComplete) saveStamp()
      return isComplete
    }
  }
  if (!isBuilt) saveStamp()
  return undefined
}
