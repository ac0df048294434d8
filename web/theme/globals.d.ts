interface Window {
  /** Requests that the page's head has started, by address. Each is used once. */
  early?: Map<string, Promise<Response | undefined>>
  /** Loads a part of the page, by the name of its file. The build writes it in place of `import()`. */
  loadPart?: (file: string) => Promise<object>
  /** Puts all parts of the page into the browser's cache. */
  loadRest?: () => Promise<void>
  /** Loads the page again as soon as the platform answers. For a page that couldn't start. */
  startAgain?: () => void
}
