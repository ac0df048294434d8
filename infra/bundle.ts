import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildFailure, type BuildOptions, type BuildResult, context, type Message } from 'esbuild'
import { unitNames } from '#functions/units.ts'
import { alias } from './bundle/alias.ts'
import { type Entries, entryPoint, entryPoints, generateEntries, importEntries } from './bundle/entry-points.ts'
import { pageSources } from './bundle/page-sources.ts'
import { PAGES, PAGES_UNIT, prebuildDocs, prebuildPage } from './bundle/prebuild.ts'
import { prebuilt } from './bundle/prebuilt.ts'
import { separate, writeSeparate } from './bundle/separate.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

/** Bundle of one function on disk. */
export type BundleReport = {
  /** Name of the function in `functions/units.ts`. */
  name: string
  /** Absolute path of `index.cjs`. */
  file: string
  /** Size of `index.cjs` in bytes, all of which a cold start reads and parses. */
  bytes: number
  /** Bytes by package (`@aws-sdk/core`, `zod`, …; `own` for the project's code), largest first. */
  packages: Record<string, number>
}

/** Options of {@link bundle}. */
export type BundleOptions = {
  /** Folder that the entry points import from. Default: this repository. */
  root?: string
  /** Names of the functions to build. Default: all. */
  functions?: string[]
  /** Sources of the entry points, by function. Default: generated from `functions/units.ts`. */
  entries?: Entries
  /** Output folder, with one folder per function. Default: `dist/functions`. */
  outDir?: string
  /** Keeps watching, and is called after each rebuild with the bundles whose bytes changed. */
  watch?: (changed: BundleReport[]) => void
  /** Called with esbuild's messages when a rebuild fails while watching. Default: prints them. */
  onError?: (messages: string[]) => void
  /** Stops watching. */
  signal?: AbortSignal
  /** Minifies, as deployed. Default: true. `false` keeps names readable in a debugger. */
  minify?: boolean
  /**
   * Generates entry points and documentation of the first build in this process, which has imported no declarations yet. That saves
   * loading them two more times. Rebuilds use separate processes. Default: false.
   */
  inProcess?: boolean
  /** Writes source maps, which take a sixth of the time and half of the memory. Default: true. */
  sourceMaps?: boolean
}

/**
 * Builds each function into `<outDir>/<name>/index.cjs` (handler `index.handler`), and puts the assets that `pages` serves next to its
 * bundle.
 *
 * Bundles are CommonJS, because an ESM bundle that imports Node's builtins also loads Node's own HTTP client (24 ms of a cold start).
 * `module` comes before `main`, because only ESM sources can be tree-shaken. Source maps go to `dist/maps`, which isn't deployed.
 *
 * @throws {Error} with esbuild's messages if a source doesn't compile
 */
export async function bundle(options: BundleOptions = {}): Promise<BundleReport[]> {
  const root = options.root ?? repository
  const { entries } = options
  const names = options.functions ?? (entries ? Object.keys(entries) : unitNames())
  const outDir = options.outDir ?? join(root, 'dist', 'functions')
  const written = new Map<string, BundleReport>()
  const serving = names.includes(PAGES_UNIT) ? join(outDir, PAGES_UNIT) : undefined
  let watching = false
  const inProcess = () => options.inProcess === true && !watching
  const readEntries = async () => entries ?? (await (inProcess() ? importEntries() : generateEntries()))
  const buildDocs = async () => serving && (await prebuildDocs(root, serving, inProcess()))
  /** Rebuilds the pages. @returns true if scripts or styles of a page have changed */
  const buildPages = async (): Promise<boolean> => {
    if (serving === undefined) return false
    const changed = await Promise.all(PAGES.map((page) => prebuildPage(root, page, serving)))
    return changed.includes(true)
  }
  const onError = options.onError ?? ((messages) => console.error(messages.join('\n')))

  const rebuilt = async (result: BuildResult) => {
    if (!watching) return
    if (result.errors.length > 0) return onError(messagesOf(result.errors))
    const changed = await writeAll(result)
    const failed = (error: Error) => onError([error.message])
    const pagesChanged = await buildPages().catch(failed)
    // Any change may concern a declaration that the documentation shows.
    if (changed.length > 0) await buildDocs().catch(failed)
    const pages = written.get(PAGES_UNIT)
    const all = new Set([...changed, ...(pages && (pagesChanged || changed.length > 0) ? [pages] : [])])
    if (all.size > 0) options.watch?.([...all])
  }

  const shared = settings(root, options.minify ?? true)
  const writeAll = async (result: BuildResult) => {
    if (result.metafile) await writeSeparate(shared, result.metafile, root)
    return write(result, root, outDir, written)
  }
  const build = await context({
    ...shared,
    entryPoints: names.map((name) => ({ in: entryPoint(name), out: `${name}/index` })),
    outdir: outDir,
    outExtension: { '.js': '.cjs' },
    sourcemap: options.sourceMaps === false ? false : 'external',
    plugins: [
      entryPoints(root, readEntries),
      prebuilt,
      separate,
      pageSources,
      { name: 'rebuilt', setup: ({ onEnd }) => onEnd(rebuilt) },
    ],
  })
  try {
    const [result] = await Promise.all([build.rebuild(), buildDocs(), buildPages()])
    await writeAll(result)
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

function settings(root: string, minify: boolean) {
  return {
    absWorkingDir: root,
    alias,
    bundle: true,
    minify,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  } satisfies BuildOptions
}

/** Writes only bundles whose bytes changed, so that watchers and the asset's hash see real changes only. */
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

/** Removes other bundles: a function that was deleted from the sources must not be deployed from an old bundle. */
async function removeOthers(outDir: string, names: string[]): Promise<void> {
  const entries = await readdir(outDir).catch(() => [])
  const gone = entries.filter((entry) => !names.includes(entry))
  await Promise.all(gone.map((entry) => rm(join(outDir, entry), { recursive: true, force: true })))
}

if (import.meta.main) {
  const started = performance.now()
  try {
    const reports = await bundle({ inProcess: true })
    for (const { name, bytes } of reports) console.log(`${name.padEnd(20)} ${(bytes / 1000).toFixed(0).padStart(5)} KB`)
    console.log(`${reports.length} functions in ${Math.round(performance.now() - started)} ms`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
