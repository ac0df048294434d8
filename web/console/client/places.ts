/** Screens of records, by id prefix. The id follows. */
const PLACES: Record<string, string> = {
  run: '/runs/',
  tsk: '/tasks/',
  ins: '/agents/',
  cnv: '/chat/',
  dlg: '/messenger/',
  sch: '/schedules/',
}

/** Lists that contain the records without a screen of their own. */
const LISTS: Record<string, string> = {
  fil: '/files',
  grt: '/access',
  arq: '/wishlist',
  inv: '/members',
  bdg: '/usage',
  acc: '/messenger',
}

/**
 * Returns the address of a record, such as one named by a Telegram link, or undefined.
 * @param id id of a record, or of a run followed by a step: `run_…-stp_…`
 */
export const addressOf = (id: string | null | undefined): string | undefined => {
  const [, record = '', prefix = ''] = /^(([a-z]{3})_[0-9a-z]{26})(?:-stp_[0-9a-z]{26})?$/.exec(id ?? '') ?? []
  return PLACES[prefix] ? PLACES[prefix] + record : LISTS[prefix]
}
