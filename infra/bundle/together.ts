import { basename, join } from 'node:path'
import { watch } from 'rolldown'
import { unitNames } from '#functions/units.ts'
import { type BundleOptions, buildOnce, buildOptions, messagesOf, removeOthers, rootOf } from './build.ts'
import { generateEntries, importEntries } from './entry-points.ts'
import { PAGES_UNIT, prebuildDocs, prebuildPages } from './prebuild.ts'

/** Options of {@link bundleTogether}. */
export interface TogetherOptions extends BundleOptions {
  /** Keeps watching, and is called after each rebuild with the names of the functions that changed. */
  watch?: (changed: string[]) => void
  /** Called with the messages when a rebuild fails while watching. Default: prints them. */
  onError?: (messages: string[]) => void
  /** Stops watching. */
  signal?: AbortSignal
}

/**
 * Builds all functions for the local run, in a tenth of the time: `dist/local/<name>/index.cjs`, with files in `dist/chunks` that they
 * share. `pages` serves what is in `dist`.
 *
 * @throws {Error} with the bundler's messages if a source doesn't compile
 */
export async function bundleTogether(options: TogetherOptions = {}): Promise<void> {
  const root = rootOf(options)
  const { onError = (messages) => console.error(messages.join('\n')) } = options
  const names = options.entries ? Object.keys(options.entries) : unitNames()
  const hasPages = names.includes(PAGES_UNIT)
  let watching = false
  const inProcess = () => options.inProcess === true && !watching
  const docs = async () => hasPages && (await prebuildDocs(root, inProcess()))
  const pages = async () => hasPages && (await prebuildPages(root))

  /** Code of each entry point. It names the files that it requires, whose names change with their content. */
  const known = new Map<string, string>()
  const files = new Set<string>()
  let changed: string[] = []
  const build = buildOptions(options, {
    names,
    entries: async () => options.entries ?? (await (inProcess() ? importEntries() : generateEntries())),
    folder: 'local',
    chunks: 'chunks',
    written: (chunks) => {
      const entries = chunks.filter(({ isEntry }) => isEntry)
      changed = entries.filter(({ name, code }) => known.get(name) !== code).map(({ name }) => name)
      for (const { name, code } of entries) known.set(name, code)
      for (const { fileName } of chunks) files.add(basename(fileName))
    },
  })
  const rebuilt = async () => {
    const failed = (error: Error) => onError([error.message])
    const pagesChanged = await pages().catch(failed)
    // Any change may concern a declaration that the documentation shows.
    if (changed.length > 0) await docs().catch(failed)
    const all = new Set([...changed, ...(hasPages && (pagesChanged || changed.length > 0) ? [PAGES_UNIT] : [])])
    if (all.size > 0) options.watch?.([...all])
  }

  const first = options.watch ? startWatching(build, { rebuilt, onError, signal: options.signal }) : buildOnce(build)
  await Promise.all([first, docs(), pages()])
  watching = true
  await removeOthers(join(root, 'dist', 'local'), new Set(names))
  // A running function may still load files of the build before a rebuild, so they stay until the next start.
  await removeOthers(join(root, 'dist', 'chunks'), files)
}

/** Builds, and again after each change. Resolves after the first build. @throws {Error} if that fails */
const startWatching = (
  build: ReturnType<typeof buildOptions>,
  {
    rebuilt,
    onError,
    signal,
  }: Pick<Required<TogetherOptions>, 'onError'> & {
    rebuilt: () => Promise<void>
    signal: AbortSignal | undefined
  },
): Promise<void> =>
  new Promise((resolve, reject) => {
    // Editors write several files at once, and not each at one stroke.
    const watcher = watch({ ...build, watch: { buildDelay: 50 } })
    signal?.addEventListener('abort', () => void watcher.close())
    let builds = 0
    watcher.on('event', async (event) => {
      if (event.code === 'BUNDLE_END' || event.code === 'ERROR') {
        builds += 1
        await event.result.close()
      }
      if (event.code === 'ERROR') {
        const messages = messagesOf(event.error)
        if (builds > 1) return onError(messages)
        await watcher.close()
        reject(new Error(messages.join('\n')))
      }
      if (event.code === 'BUNDLE_END' && builds > 1) await rebuilt()
      // Only now are all files watched.
      if (event.code === 'END' && builds === 1) resolve()
    })
  })
