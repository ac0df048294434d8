import { basename, join } from 'node:path'
import { watch } from 'rolldown'
import { unitNames } from '#functions/units.ts'
import { type BundleOptions, buildOnce, buildOptions, messagesOf, removeOthers, rootOf } from './build.ts'
import { generateEntries, importEntries } from './entry-points.ts'
import { PAGES_UNIT, PARTS, type Part, prebuild } from './prebuild.ts'

/** Options of {@link bundleTogether}. */
export interface TogetherOptions extends BundleOptions {
  /** Keeps watching, and is called after each rebuild with the names of the functions that changed. */
  watch?: (changed: string[]) => void
  /** Called with the messages when a rebuild fails while watching. Default: prints them. */
  onError?: (messages: string[]) => void
  /** Called after each build of a part of what `pages` and `packages` serve, with the messages if it failed. */
  onPart?: (part: Part, error?: string) => void
  /** Stops watching. */
  signal?: AbortSignal
}

/**
 * Builds all functions for the local run, in a tenth of the time: `dist/local/<name>/index.cjs`, with files in `dist/chunks` that they
 * share. `pages` and `packages` serve what is in `dist`, which most calls don't need: the returned function builds it.
 *
 * @throws {Error} with the bundler's messages if a source doesn't compile
 */
export async function bundleTogether(options: TogetherOptions = {}): Promise<() => Promise<unknown>> {
  const root = rootOf(options)
  const { onError = (messages) => console.error(messages.join('\n')) } = options
  const names = options.entries ? Object.keys(options.entries) : unitNames()
  const parts = names.includes(PAGES_UNIT) ? PARTS : []
  let builds = 0

  /** Code of each entry point. It names the files that it requires, whose names change with their content. */
  const known = new Map<string, string>()
  const files = new Set<string>()
  let changed: string[] = []
  const build = buildOptions(options, {
    names,
    entries: async () =>
      options.entries ?? (await (options.inProcess && builds === 0 ? importEntries() : generateEntries())),
    folder: 'local',
    chunks: 'chunks',
    written: (chunks) => {
      builds += 1
      const entries = chunks.filter(({ isEntry }) => isEntry)
      changed = entries.filter(({ name, code }) => known.get(name) !== code).map(({ name }) => name)
      for (const { name, code } of entries) known.set(name, code)
      for (const { fileName } of chunks) files.add(basename(fileName))
    },
  })

  const buildPart = async (part: Part): Promise<boolean> => {
    try {
      const isChanged = await prebuild(root, part, options.inProcess === true && builds === 1)
      options.onPart?.(part)
      return isChanged
    } catch (error) {
      options.onPart?.(part, messagesOf(error).join('\n'))
      return false
    }
  }
  let building: Promise<boolean[]> = Promise.resolve([])
  /** Builds parts, after those that are being built. @returns whether each has changed */
  const buildParts = (given: readonly Part[]): Promise<boolean[]> => {
    building = building.then(() => Promise.all(given.map(buildPart)))
    return building
  }
  const rebuilt = async () => {
    // Any change may concern a declaration that the documentation shows. The packages are those of the start.
    const outdated = parts.filter((part) => (part === 'docs' ? changed.length > 0 : part !== 'packages'))
    const all = new Set(changed)
    if ((await buildParts(outdated)).includes(true)) all.add(PAGES_UNIT)
    if (all.size > 0) options.watch?.([...all])
  }

  await (options.watch ? startWatching(build, { rebuilt, onError, signal: options.signal }) : buildOnce(build))
  await removeOthers(join(root, 'dist', 'local'), new Set(names))
  // A running function may still load files of the build before a rebuild, so they stay until the next start.
  await removeOthers(join(root, 'dist', 'chunks'), files)
  return () => buildParts(parts)
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
