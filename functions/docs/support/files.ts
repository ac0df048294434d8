import * as built from '#shared/http/built-files.ts'

/** One file in the documentation build's table (`docs-assets/docs-files.json`). */
export interface DocsFile {
  path: string
  contentType: string
  headers: Record<string, string>
  /** File name in the folder of the bundle. */
  file: string
  /** SHA-256 of the content in hex. */
  hash: string
}

export interface BuiltFiles extends built.BuiltFiles {
  /** Finds the file served under a path. Undefined if the build has none. */
  at(path: string): Promise<DocsFile | undefined>
}

export const builtFolders = (): string[] => built.builtFolders('openapi', 'docs-assets')

export const openBuiltFiles = (folders: readonly string[]): BuiltFiles => {
  const files = built.openBuiltFiles(folders)
  return {
    ...files,
    // File names come from the build's table, never from the request.
    async at(path) {
      const { files: known } = JSON.parse(await files.text('docs-files.json')) as { files: DocsFile[] }
      return known.find((file) => file.path === path)
    },
  }
}
