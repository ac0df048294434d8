import { join, relative } from 'node:path'
import type { OutputChunk } from 'rolldown'

/** Bundle of one function on disk. */
export interface BundleReport {
  /** Name of the function in `functions/units.ts`. */
  name: string
  /** Absolute path of `index.cjs`. */
  file: string
  /** Bytes that every cold start reads: `index.cjs` and the files that it requires as it loads. */
  bytes: number
  /** Paths of the modules in these files. */
  modules: string[]
  /** Modules that the function loads when a request or a step needs them. */
  later: Later[]
}

/** Module that a bundle imports dynamically. */
export interface Later {
  /** Path of the module. */
  module: string
  /** Absolute path of the file to require. */
  file: string
  /** Bytes of this file, and of those that it requires and the function hasn't loaded. */
  bytes: number
}

const bytesOf = (chunks: Iterable<OutputChunk>): number =>
  [...chunks].reduce((sum, { code }) => sum + Buffer.byteLength(code), 0)

/**
 * Describes the bundles of one build.
 *
 * @param root the repository, to which paths of modules are relative
 */
export const reportsOf = (chunks: readonly OutputChunk[], root: string): BundleReport[] => {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const required = (chunk: OutputChunk, found: Set<OutputChunk>): Set<OutputChunk> => {
    if (found.has(chunk)) return found
    found.add(chunk)
    for (const file of chunk.imports) {
      const imported = byFile.get(file)
      if (imported) required(imported, found)
    }
    return found
  }
  /** Entries of the modules that these chunks, or what they load later, import dynamically. */
  const dynamic = (from: ReadonlySet<OutputChunk>): Set<OutputChunk> => {
    const found = new Set<OutputChunk>()
    const visit = (loaded: ReadonlySet<OutputChunk>): void => {
      for (const file of [...loaded].flatMap(({ dynamicImports }) => dynamicImports)) {
        const chunk = byFile.get(file)
        if (!chunk || found.has(chunk)) continue
        found.add(chunk)
        visit(required(chunk, new Set()))
      }
    }
    visit(from)
    return found
  }
  return chunks
    .filter(({ isEntry }) => isEntry)
    .map((entry) => {
      const always = required(entry, new Set())
      return {
        name: entry.name,
        file: join(root, 'dist', entry.fileName),
        bytes: bytesOf(always),
        modules: [...always].flatMap(({ moduleIds }) => moduleIds.map((id) => relative(root, id))),
        later: [...dynamic(always)]
          .filter((chunk) => !always.has(chunk))
          .map((chunk) => ({
            module: relative(root, chunk.facadeModuleId ?? ''),
            file: join(root, 'dist', chunk.fileName),
            bytes: bytesOf([...required(chunk, new Set())].filter((one) => !always.has(one))),
          })),
      }
    })
}
