interface Window {
  /** Requests that the page's head has started, by address. Each is used once. */
  early?: Map<string, Promise<Response | undefined>>
}
