import * as built from '#shared/http/built-files.ts'

/** What the documentation's build says of one file (`docs-assets/docs-files.json`). */
export interface DocsFile {
  path: string
  contentType: string
  headers: Record<string, string>
  /** Its name beside the bundle. */
  file: string
  /** SHA-256 of the content in hex. */
  hash: string
}

export interface BuiltFiles extends built.BuiltFiles {
  /** The file that is served under a path; undefined for a path that the build does not know. */
  at(path: string): Promise<DocsFile | undefined>
}

export const builtFolders = (): string[] => built.builtFolders('openapi', 'docs-assets')

export const openBuiltFiles = (folders: readonly string[]): BuiltFiles => {
  const { text } = built.openBuiltFiles(folders)
  return {
    text,
    // Names come from the build's own table, never from the request.
    async at(path) {
      const { files } = JSON.parse(await text('docs-files.json')) as { files: DocsFile[] }
      return files.find((file) => file.path === path)
    },
  }
}
