/** Answers that take longer count as slow. */
const SLOW_MS = 2_000
/** Calls without an answer are given up. */
const DEADLINE_MS = 10_000
const INTERVAL_MS = 60_000

type State = 'works' | 'slow' | 'fails'

const check = async (root: string, row: HTMLElement): Promise<State> => {
  const { check: path = '', statuses = '' } = row.dataset
  const state = row.querySelector('.state')
  const began = performance.now()
  const status = await fetch(root + path, {
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).then(
    (response) => response.status,
    () => undefined,
  )
  const took = Math.round(performance.now() - began)
  const result: State = !statuses.split(' ').includes(String(status)) ? 'fails' : took > SLOW_MS ? 'slow' : 'works'
  const texts = {
    works: `Works (${took} ms)`,
    slow: `Slow (${took} ms)`,
    fails: status === undefined ? 'No answer' : `Fails (status ${status})`,
  }
  if (state) state.textContent = texts[result]
  row.dataset.state = result
  return result
}

/** Checks the platform's parts from the reader's browser, again and again while the page is visible. */
export const addStatus = (root: string): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-check]')]
  const summary = document.querySelector('.checked')
  if (rows.length === 0 || !summary) return
  const checkAll = async () => {
    if (document.visibilityState === 'hidden') return
    const states = await Promise.all(rows.map((row) => check(root, row)))
    const failing = states.filter((state) => state === 'fails').length
    const slow = states.filter((state) => state === 'slow').length
    const at = new Date().toLocaleTimeString()
    if (failing > 0)
      summary.textContent = `${failing} of ${states.length} parts don’t answer as they should. Checked at ${at}.`
    else summary.textContent = `${slow > 0 ? 'Everything answers, but slowly' : 'Everything works'}. Checked at ${at}.`
  }
  summary.textContent = 'Checking …'
  void checkAll()
  setInterval(checkAll, INTERVAL_MS)
}
