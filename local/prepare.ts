import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The repository. */
export const ROOT = path.resolve(import.meta.dirname, '..')
/** Where the bundles are built to. */
export const BUNDLES = path.join(ROOT, 'dist', 'functions')

const INPUTS = ['infra', 'functions', 'shared', 'web', 'examples/sdk', 'cdk.json', 'package-lock.json']
const OUTPUTS = [path.relative(ROOT, BUNDLES)]
const FINGERPRINT = 'fingerprint'

const filesOf = (entry: string): string[] => {
  const file = path.join(ROOT, entry)
  if (!existsSync(file)) return []
  if (!statSync(file).isDirectory()) return [entry]
  return readdirSync(file, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.relative(ROOT, path.join(each.parentPath, each.name)))
    .sort()
}

/** Names, sizes and times of files. */
const fingerprint = (entries: string[]): string => {
  const hash = createHash('sha256')
  for (const file of entries.flatMap(filesOf)) {
    const { size, mtimeMs } = statSync(path.join(ROOT, file))
    hash.update(`${file} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

const functionFolders = (): string[] =>
  readdirSync(path.join(ROOT, 'functions'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(ROOT, 'functions', entry.name, 'index.ts')))
    .map((entry) => entry.name)

/** Synth only looks whether a bundle is there; so it need not wait for the first build. */
const reserveBundles = () => {
  for (const name of functionFolders()) {
    const file = path.join(BUNDLES, name, 'index.cjs')
    mkdirSync(path.dirname(file), { recursive: true })
    if (!existsSync(file)) writeFileSync(file, '')
  }
}

/**
 * Synthesizes the stacks of the stage `local` in a process of its own.
 *
 * @throws Error with the app's output when it fails
 */
const synth = (cdkOut: string): Promise<void> => {
  const { context = {} } = JSON.parse(readFileSync(path.join(ROOT, 'cdk.json'), 'utf8')) as { context?: object }
  // Bundles are run from where they are built: copies would only go stale.
  const CDK_CONTEXT_JSON = JSON.stringify({ ...context, 'aws:cdk:disable-asset-staging': true })
  const env = { ...process.env, CDK_CONTEXT_JSON, CDK_OUTDIR: cdkOut, DEPLOY_STAGE: 'local' }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(ROOT, 'infra', 'app.ts')], { cwd: ROOT, env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece))
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`infra/app.ts failed (code ${code}):\n${output.trim()}`))
    })
  })
}

/** How to build. */
export interface PrepareOptions {
  /** Where the cloud assembly goes. */
  cdkOut: string
  /** Stay, and tell of each bundle that a rebuild changed. */
  watch?: {
    onChange: (names: string[]) => void
    onError: (messages: string[]) => void
    signal: AbortSignal
  }
}

/**
 * Builds the bundles and synthesizes the stacks, at the same time; neither when nothing has changed since the last time.
 *
 * @returns whether anything had to be done
 * @throws Error with esbuild's or the CDK app's messages
 */
export const prepare = async ({ cdkOut, watch }: PrepareOptions): Promise<boolean> => {
  const file = path.join(cdkOut, FINGERPRINT)
  // Taken before the build: what is edited meanwhile is built the next time.
  const inputs = fingerprint(INPUTS)
  const current = existsSync(file) && readFileSync(file, 'utf8') === `${inputs} ${fingerprint(OUTPUTS)}`
  if (current && !watch) return false
  reserveBundles()
  const { bundle } = await import('#infra/bundle.ts')
  const watching = watch && {
    watch: (changed: { name: string }[]) => watch.onChange(changed.map(({ name }) => name)),
    onError: watch.onError,
    signal: watch.signal,
  }
  await Promise.all([bundle(watching ?? {}), current ? undefined : synth(cdkOut)])
  writeFileSync(file, `${inputs} ${fingerprint(OUTPUTS)}`)
  return true
}
