/** A built file of a page. */
interface BuiltFile {
  /** File name, which contains a hash of the content. */
  name: string
  contentType: string
}

/** Table of a page's built files, stored next to them. */
export interface PageBuild {
  files: BuiltFile[]
  /** Files that the page's HTML refers to. */
  entry: { script: string; styles: string[]; preloads: string[] }
}
