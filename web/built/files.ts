/** A built file of a page. */
interface BuiltFile {
  /** File name, which contains a hash of the content. */
  name: string
  contentType: string
}

/** Scripts and data of a screen. */
export interface PageRoute {
  /** Its module. */
  file: string
  /** Paths of the data that it asks for first, with the place's variables: `console/runs/:id`. */
  data: string[]
}

/** Files that a page loads first. */
export interface PageEntry {
  script: string
  styles: string[]
  preloads: string[]
  /** Classic script that runs before the page is painted. */
  head: string
  /** Scripts and data of each screen, by the pattern of its address: `/runs/:id`. */
  routes: Record<string, PageRoute>
  /**
   * Files that aren't loaded anyway. After the name of each that is loaded on demand come the rows of the files that it imports:
   * `home-1a2b.js 3 7`.
   */
  parts: string[]
}

/** Table of a page's built files, stored next to them. */
export interface PageBuild {
  files: BuiltFile[]
  /** Files that the page's HTML refers to, by the language of their texts. */
  entries: Record<string, PageEntry>
}
