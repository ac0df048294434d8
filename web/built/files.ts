/** A built file of a page. */
interface BuiltFile {
  /** File name, which contains a hash of the content. */
  name: string
  contentType: string
}

/** Files that a page loads first. */
export interface PageEntry {
  script: string
  styles: string[]
  preloads: string[]
  /** Classic script that runs before the page is painted. */
  head: string
  /** Modules of the screen that an address without a place shows. */
  start: string[]
}

/** Table of a page's built files, stored next to them. */
export interface PageBuild {
  files: BuiltFile[]
  /** Files that the page's HTML refers to, by the language of their texts. */
  entries: Record<string, PageEntry>
}
