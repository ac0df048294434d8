import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, type OutputChunk, rolldown } from 'rolldown'
import { type Entries, entryPoint, entryPoints } from './entry-points.ts'
import { INPUT, OUTPUT } from './options.ts'
import { pageSources } from './page-sources.ts'
import { prebuilt } from './prebuilt.ts'
import { writeFiles } from './write.ts'

/** Options of every build. */
export interface BundleOptions {
  /** Folder that the entry points import from, and whose `dist` is written. Default: this repository. */
  root?: string
  /** Sources of the entry points, by function. Default: generated from `functions/units.ts`. */
  entries?: Entries
  /**
   * Generates entry points and documentation of the first build in this process, which has imported no declarations yet. That saves
   * loading them two more times. Rebuilds use separate processes. Default: false.
   */
  inProcess?: boolean
  /** Writes source maps to `dist/maps`. Default: true. */
  sourceMaps?: boolean
}

export const rootOf = ({ root }: BundleOptions): string => root ?? fileURLToPath(new URL('../..', import.meta.url))

/** Functions that one build bundles. */
interface Bundled {
  names: readonly string[]
  /** Reads the sources of their entry points, for each build again. */
  entries: () => Promise<Entries>
  /** Folder below `dist` for a folder of each function. */
  folder: string
  /** Folder below `dist` for files that they share, or load later. */
  chunks: string
  written: (chunks: OutputChunk[]) => void
}

export const buildOptions = (
  options: BundleOptions,
  { names, entries, folder, chunks, written }: Bundled,
): BuildOptions & { output: object } => {
  const root = rootOf(options)
  const dist = join(root, 'dist')
  return {
    ...INPUT,
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, entryPoint(name)])),
    plugins: [entryPoints(root, entries), prebuilt, pageSources, writeFiles(dist, written)],
    output: {
      ...OUTPUT,
      dir: dist,
      entryFileNames: `${folder}/[name]/index.cjs`,
      chunkFileNames: `${chunks}/[name]-[hash].cjs`,
      sourcemap: options.sourceMaps === false ? false : 'hidden',
    },
  }
}

/** Builds once. @throws {Error} with the bundler's messages */
export const buildOnce = async ({ output, ...input }: ReturnType<typeof buildOptions>): Promise<void> => {
  const build = await rolldown(input)
  try {
    await build.generate(output)
  } catch (error) {
    throw new Error(messagesOf(error).join('\n'))
  } finally {
    await build.close()
  }
}

/** Returns the messages of a failed build, each with its position. */
export const messagesOf = (error: unknown): string[] => {
  if (!(error instanceof Error)) return [String(error)]
  const { errors = [error] } = error as { errors?: readonly Error[] }
  return errors.map(({ message }) => message)
}

/** Removes what earlier builds left in a folder: it must not be deployed, or grow forever. */
export const removeOthers = async (folder: string, kept: ReadonlySet<string>): Promise<void> => {
  const entries = await readdir(folder).catch(() => [])
  const gone = entries.filter((entry) => !kept.has(entry))
  await Promise.all(gone.map((entry) => rm(join(folder, entry), { recursive: true, force: true })))
}
