import { CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { folded } from '#shared/kernel/folded.ts'
import { isId } from '#shared/kernel/ids.ts'
import type { Page } from '#shared/table/table.ts'
import { FileEntity, type FileRecord, FolderEntity, filesIn } from './entity.ts'
import { folderNotFound, listFolders } from './folders.ts'
import { presentFile, presentFolder } from './present.ts'
import { countOfFiles } from './quota.ts'
import type { FileFilter, FileSearch, FileView, FolderView } from './schemas.ts'

type Reading = Pick<Deps, 'table'>
type Paging = { limit: number; after?: string | undefined }

/**
 * Lists a workspace's files or folders, newest first, from their records. It doesn't check the bucket for pending uploads.
 * @throws `not_found` for a folder of another workspace
 */
export const listFiles = async (
  deps: Reading,
  workspaceId: string,
  { kind, folder_id }: FileFilter,
  options: Paging,
): Promise<Page<FileView | FolderView>> => {
  if (kind === 'folder') {
    const { items, next } = await listFolders(deps, workspaceId, options)
    return { items: items.map(presentFolder), next }
  }
  const read = await readerOf(deps, workspaceId, folder_id)
  const { items, next } = await read(options)
  return { items: items.map(presentFile), next }
}

/** Files that one request with `q` looks through, and the number read at once. */
const LOOKED_AT = 2_000
const STEP = 250

/**
 * Lists files in another order, or those with a name that contains all words, or folders as {@link listFiles} does. By date, a
 * page with words looks through a bounded number of files, so it may be short and still have a next one.
 * @throws `not_found` for a folder of another workspace; `conflict` if there are too many files to sort
 */
export const searchFiles = async (
  deps: Reading,
  workspaceId: string,
  search: FileSearch,
  options: Paging,
): Promise<Page<FileView | FolderView>> => {
  const { kind, folder_id, q, sort } = search
  if (kind === 'folder') return listFiles(deps, workspaceId, search, options)
  const words = wordsOf(q ?? '')
  const order = search.order ?? (sort === 'name' ? 'asc' : 'desc')
  const matches = ({ name }: FileRecord): boolean => hasWords(name, words)
  if (sort !== 'created_at') {
    const all = await loadToSort(deps, workspaceId, folder_id)
    return pageOfSorted(all.filter(matches), sort, order, options)
  }
  const read = await readerOf(deps, workspaceId, folder_id)
  const step = words.length > 0 ? STEP : options.limit
  const items: FileRecord[] = []
  let next = options.after
  for (let looked = 0; looked < LOOKED_AT; looked += step) {
    const page = await read({ limit: step, after: next, ascending: order === 'asc' })
    items.push(...page.items.filter(matches))
    next = page.next
    if (items.length >= options.limit || next === undefined) break
  }
  const shown = items.slice(0, options.limit)
  const last = shown.at(-1)
  const cut = shown.length < items.length && last ? placeIn(folder_id, last) : next
  return { items: shown.map(presentFile), next: cut }
}

type Read = (options: Paging & { ascending?: boolean }) => Promise<Page<FileRecord>>

/**
 * Returns a function that reads pages of files by date.
 * @param folder an id, `root` for files outside all folders, undefined for all files
 */
const readerOf = async ({ table }: Reading, workspace_id: string, folder: string | undefined): Promise<Read> => {
  if (folder === undefined) return (options) => table.query(FileEntity, { workspace_id }, options)
  const id = folder === 'root' ? undefined : folder
  if (id !== undefined) {
    const found = isId('folder', id) ? await table.get(FolderEntity, { workspace_id, id }) : undefined
    if (found?.due_at !== undefined || !found) throw folderNotFound()
  }
  return (options) => table.listed(FileEntity, filesIn(workspace_id, id), options)
}

/** Returns the sort value of a file in the list that {@link readerOf} reads. */
const placeIn = (folder: string | undefined, file: FileRecord): string =>
  folder === undefined ? FileEntity.key(file).sk : file.id

/** Most files of a workspace that are read for a sorted list, in two or three queries, and of a single folder of a larger one. */
const MOST_SORTED = 5_000
const MOST_SORTED_IN_FOLDER = 1_000

/**
 * Loads all files of a folder, or of all folders. A workspace's records are stored next to one another, so reading them all
 * costs a twentieth of reading each through its folder's list.
 */
const loadToSort = async (deps: Reading, workspace_id: string, folder: string | undefined): Promise<FileRecord[]> => {
  const read = await readerOf(deps, workspace_id, folder)
  const count = await deps.table.get(CounterEntity, countOfFiles(workspace_id))
  const isSmall = (count?.n ?? 0) <= MOST_SORTED
  const limit = isSmall ? MOST_SORTED : MOST_SORTED_IN_FOLDER
  if (!isSmall && folder === undefined) throw tooMany(MOST_SORTED)
  const { items, next } = isSmall
    ? await deps.table.query(FileEntity, { workspace_id }, { limit })
    : await read({ limit })
  if (next !== undefined) throw tooMany(limit)
  const id = folder === 'root' ? undefined : folder
  return folder === undefined ? items : items.filter(({ folder_id }) => folder_id === id)
}

const tooMany = (limit: number) =>
  fail('conflict', {
    message: 'There are too many files to sort them this way.',
    fix: 'Sort by created_at, or move files into folders and name one of them.',
    details: { limit },
  })

/** Numbers within names sort by their value, and case and accents don't matter. */
const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

type Sortable = Pick<FileRecord, 'id' | 'name' | 'size'>

/** Returns a page of a sorted list. Its cursor holds the last file's own values, so that the next page begins after it even if it is deleted. */
const pageOfSorted = (
  files: FileRecord[],
  sort: 'name' | 'size',
  order: 'asc' | 'desc',
  { limit, after }: Paging,
): Page<FileView> => {
  const direction = order === 'asc' ? 1 : -1
  const compare = (a: Sortable, b: Sortable): number =>
    direction *
    ((sort === 'name' ? names.compare(a.name, b.name) : a.size - b.size) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  const sorted = files.sort(compare)
  const [id = '', size = '0', ...name] = (after ?? '').split('\n')
  const last = { id, size: Number(size), name: name.join('\n') }
  const begin = after === undefined ? 0 : sorted.findIndex((file) => compare(file, last) > 0)
  const rest = begin < 0 ? [] : sorted.slice(begin)
  const shown = rest.slice(0, limit)
  const end = shown.at(-1)
  return {
    items: shown.map(presentFile),
    next: rest.length > shown.length && end ? `${end.id}\n${end.size}\n${end.name}` : undefined,
  }
}

const wordsOf = (text: string): string[] => folded(text).split(/\s+/).filter(Boolean)

const hasWords = (name: string, words: readonly string[]): boolean => {
  const text = folded(name)
  return words.every((word) => text.includes(word))
}
