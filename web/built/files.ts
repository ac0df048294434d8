/** One file of a page as it was built; a table beside the files names them all. */
interface BuiltFile {
  /** Its name in the table's folder, and below the page's assets: it has a hash of the content in it. */
  name: string
  contentType: string
}

/** What a build says of a page. */
export interface PageBuild {
  files: BuiltFile[]
  /** Names of the files that the page itself names. */
  entry: { script: string; styles: string[]; preloads: string[] }
}
