import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildFailure, type BuildOptions, type BuildResult, context, type Message } from 'esbuild'
import { overBudget } from './bundle/budget.ts'
import { lean } from './bundle/lean.ts'
import { noSchemaGenerator } from './bundle/no-schema-generator.ts'
import { pageSources } from './bundle/page-sources.ts'
import { PAGES, prebuild, prebuildPage } from './bundle/prebuild.ts'
import { prebuilt } from './bundle/prebuilt.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

/** One function's bundle as it now lies on the disk. */
export type BundleReport = {
  /** The folder's name under `functions/`. */
  name: string
  /** The absolute path of `index.cjs`. */
  file: string
  /** Size of `index.cjs` in bytes: what a cold start reads and parses. */
  bytes: number
  /** Bytes by package (`@aws-sdk/core`, `zod`, …; `own` for the project's code), largest first. */
  packages: Record<string, number>
}

/** What to bundle and where to. */
export type BundleOptions = {
  /** The folder that has `functions/`; this repository unless given. */
  root?: string
  /** Names of folders under `functions/`; all that have an `index.ts` unless given. */
  functions?: string[]
  /** Where the bundles go, one folder for each function; `dist/functions` unless given. */
  outDir?: string
  /** Stay, and call this after each rebuild with those bundles whose bytes changed. */
  watch?: (changed: BundleReport[]) => void
  /** Called while watching when a rebuild fails, with esbuild's messages; without it they are printed. */
  onError?: (messages: string[]) => void
  /** Ends the watching. */
  signal?: AbortSignal
  /** Minify, as deployed (the default); `false` keeps names readable in a debugger. */
  minify?: boolean
}

/** The names of the folders under `functions/` that hold a Lambda function. */
export async function functionNames(root = repository): Promise<string[]> {
  const entries = await readdir(join(root, 'functions'), { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() && existsSync(join(root, 'functions', entry.name, 'index.ts')))
    .map((entry) => entry.name)
    .sort()
}

/**
 * Builds `functions/<name>/index.ts` into `<outDir>/<name>/index.cjs` (handler `index.handler`), and beside the documentation's
 * and the pages' functions the assets that they serve.
 *
 * CommonJS, because an ESM bundle that imports Node's builtins loads Node's own HTTP client too (24 ms of a cold start); and
 * `module` before `main`, because only ESM sources can be tree-shaken. Source maps go to `dist/maps`, outside what is deployed.
 *
 * @throws {Error} esbuild's messages, if a source does not compile.
 */
export async function bundle(options: BundleOptions = {}): Promise<BundleReport[]> {
  const root = options.root ?? repository
  const names = options.functions ?? (await functionNames(root))
  const outDir = options.outDir ?? join(root, 'dist', 'functions')
  const written = new Map<string, BundleReport>()
  const buildAssets = async () => {
    if (names.includes('docs')) await prebuild(root, join(outDir, 'docs'))
  }
  const pages = (Object.keys(PAGES) as (keyof typeof PAGES)[]).filter((name) => names.includes(name))
  /** Those pages' functions whose scripts or styles have changed. */
  const buildPages = async (): Promise<string[]> => {
    const changed = await Promise.all(pages.map((name) => prebuildPage(root, name, join(outDir, name))))
    return pages.filter((_, i) => changed[i])
  }
  const onError = options.onError ?? ((messages) => console.error(messages.join('\n')))

  let watching = false
  const rebuilt = async (result: BuildResult) => {
    if (!watching) return
    if (result.errors.length > 0) return onError(messagesOf(result.errors))
    const changed = await write(result, root, outDir, written)
    const pagesChanged = await buildPages().catch((error: Error) => onError([error.message]))
    const reports = (pagesChanged ?? []).flatMap((name) => written.get(name) ?? [])
    if (reports.length > 0) options.watch?.(reports)
    if (changed.length === 0) return
    options.watch?.(changed)
    // Any change may have been to a declaration, and the documentation shows those.
    await buildAssets().catch((error: Error) => onError([error.message]))
    const docs = written.get('docs')
    if (docs !== undefined) options.watch?.([docs])
  }

  const build = await context({
    ...settings(root, names, outDir, options.minify ?? true),
    plugins: [
      lean,
      noSchemaGenerator,
      prebuilt,
      pageSources,
      { name: 'rebuilt', setup: ({ onEnd }) => onEnd(rebuilt) },
    ],
  })
  try {
    const [result] = await Promise.all([build.rebuild(), buildAssets(), buildPages()])
    await write(result, root, outDir, written)
  } catch (error) {
    await build.dispose()
    throw isBuildFailure(error) ? new Error(messagesOf(error.errors).join('\n')) : error
  }
  if (options.functions === undefined) await removeOthers(outDir, names)
  if (options.watch === undefined) {
    await build.dispose()
  } else {
    watching = true
    await build.watch()
    options.signal?.addEventListener('abort', () => void build.dispose())
  }
  return [...written.values()]
}

const isBuildFailure = (error: unknown): error is BuildFailure => error instanceof Error && 'errors' in error

const messagesOf = (errors: Message[]): string[] =>
  errors.map(({ text, location }) => (location === null ? text : `${location.file}:${location.line} ${text}`))

function settings(root: string, names: string[], outDir: string, minify: boolean) {
  return {
    absWorkingDir: root,
    entryPoints: names.map((name) => ({ in: `functions/${name}/index.ts`, out: `${name}/index` })),
    outdir: outDir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    sourcemap: 'external',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  } satisfies BuildOptions
}

/** Writes those bundles whose bytes changed, so that a watcher (and the asset's hash) sees only what really did. */
async function write(
  result: BuildResult,
  root: string,
  outDir: string,
  written: Map<string, BundleReport>,
): Promise<BundleReport[]> {
  const changed: BundleReport[] = []
  for (const { path, contents } of result.outputFiles ?? []) {
    const name = basename(dirname(path))
    const isMap = path.endsWith('.map')
    const file = isMap ? join(outDir, '..', 'maps', `${name}.cjs.map`) : path
    const before = await readFile(file).catch(() => undefined)
    const same = before?.equals(contents) ?? false
    if (!same) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, contents)
    }
    if (isMap || (same && written.has(name))) continue
    const report = { name, file, bytes: contents.byteLength, packages: packagesOf(result, relative(root, path)) }
    written.set(name, report)
    changed.push(report)
  }
  return changed
}

function packagesOf(result: BuildResult, output: string): Record<string, number> {
  const totals: Record<string, number> = {}
  for (const [input, { bytesInOutput }] of Object.entries(result.metafile?.outputs[output]?.inputs ?? {})) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? 'own'
    totals[name] = (totals[name] ?? 0) + bytesInOutput
  }
  return Object.fromEntries(Object.entries(totals).sort((a, b) => b[1] - a[1]))
}

/** A function that is gone from the sources must not be deployed from an old bundle. */
async function removeOthers(outDir: string, names: string[]): Promise<void> {
  const entries = await readdir(outDir).catch(() => [])
  const gone = entries.filter((entry) => !names.includes(entry))
  await Promise.all(gone.map((entry) => rm(join(outDir, entry), { recursive: true, force: true })))
}

if (import.meta.main) {
  const started = performance.now()
  try {
    const reports = await bundle()
    for (const { name, bytes } of reports) console.log(`${name.padEnd(20)} ${(bytes / 1000).toFixed(0).padStart(5)} KB`)
    const over = overBudget(reports)
    if (over.length > 0) throw new Error(over.join('\n'))
    console.log(`${reports.length} functions in ${Math.round(performance.now() - started)} ms`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
