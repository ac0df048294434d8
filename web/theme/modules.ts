/**
 * Loads the parts of a page. Browsers before the HTML standard's change of 2026 (whatwg/html#10327) remember a module whose
 * fetch failed for as long as the page is open, and so does every module that imports it. A part's files are therefore
 * fetched first, and imported, from the browser's cache, once all are there.
 */

/**
 * Creates the functions that load parts.
 * @param assets URL of the files' folder
 * @param tables rows of file names, by language: a part, and the rows of the files that it imports
 */
export const partLoader = (assets: string, tables: Record<string, string[]>) => {
  /** Rows of the page's language, which may change before its first part loads. */
  const rows = (): string[][] => (tables[document.documentElement.lang] ?? []).map((row) => row.split(' '))

  const filesOf = (file: string): string[] => {
    const all = rows()
    const [, ...imported] = all.find(([name]) => name === file) ?? []
    return [file, ...imported.map((row) => all[+row]?.[0] as string)]
  }

  const get = async (file: string, priority: RequestPriority = 'auto'): Promise<void> => {
    let status = 503
    try {
      const response = await fetch(assets + file, { priority })
      // Only a response that was read to its end is in the cache.
      await response.arrayBuffer()
      status = response.status
    } catch {
      // No answer, or half of one.
    }
    // A file that the server doesn't have may have been replaced by a deployment. Asking again wouldn't help.
    if (status >= 400) throw new DOMException(file, status < 500 ? 'NotFoundError' : 'NetworkError')
  }

  /** Fetches that are under way or were successful. */
  const fetched = new Map<string, Promise<void>>()
  const obtain = (file: string): Promise<void> => {
    const known = fetched.get(file) ?? get(file)
    fetched.set(file, known)
    known.catch(() => fetched.delete(file))
    return known
  }

  return {
    /** Fetches a part that will be loaded in a moment. */
    prefetch: (file: string): void => void Promise.allSettled(filesOf(file).map(obtain)),

    /** Fetches and imports a part. */
    load: async (file: string): Promise<object> => {
      await Promise.all(filesOf(file).map(obtain))
      return import(/* @vite-ignore */ assets + file)
    },

    /** Puts the other parts into the browser's cache, one by one, so that they are there without a connection. */
    loadRest: async (): Promise<void> => {
      for (const [file] of rows()) if (file && !fetched.has(file)) await get(file, 'low')
    },
  }
}
