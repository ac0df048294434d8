/** Where a record is shown, by its id's prefix; its id follows. */
const PLACES: Record<string, string> = {
  run: '/runs/',
  tsk: '/tasks/',
  ins: '/agents/',
  cnv: '/chat/',
  dlg: '/messenger/',
}

/** Records without a page of their own: where they are listed. */
const LISTS: Record<string, string> = {
  fil: '/files',
  grt: '/access',
  arq: '/wishlist',
  inv: '/members',
  acc: '/messenger',
}

/**
 * The place of a record, such as the one that a link into the messaging app names; undefined for anything else.
 * @param id a record's id, or a run's with that of a step behind it: `run_…-stp_…`
 */
export const placeOf = (id: string | null | undefined): string | undefined => {
  const [, record = '', prefix = ''] = /^(([a-z]{3})_[0-9a-z]{26})(?:-stp_[0-9a-z]{26})?$/.exec(id ?? '') ?? []
  return PLACES[prefix] ? PLACES[prefix] + record : LISTS[prefix]
}
