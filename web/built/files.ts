/** A built file of a page. */
interface BuiltFile {
  /** File name, which contains a hash of the content. */
  name: string
  contentType: string
}

/** Scripts and data of a screen. */
export interface PageRoute {
  /** Modules that aren't loaded anyway. */
  files: string[]
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
}

/** Table of a page's built files, stored next to them. */
export interface PageBuild {
  files: BuiltFile[]
  /** Files that the page's HTML refers to, by the language of their texts. */
  entries: Record<string, PageEntry>
}
