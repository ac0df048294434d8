import { useEffect, useRef, useState } from 'preact/hooks'
import { visible } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { useData, usePages } from '../../../ui/data.ts'
import { filter, Search, setFilter } from '../../../ui/filters.tsx'
import { folded } from '../../../ui/folded.ts'
import { Field } from '../../../ui/form.tsx'
import { bytes, count } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icons.tsx'
import { part } from '../../../ui/lazy.tsx'
import { t } from '../../../ui/messages.ts'
import { navigate } from '../../../ui/router.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { useScript } from '../../../ui/script.ts'
import { Name, State, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { Download } from '../ui/download.tsx'
import {
  DeleteFile,
  DeleteFolder,
  FileDialog,
  type Folder,
  MoveFile,
  NewFolder,
  RenameFile,
  RenameFolder,
  type StoredFile,
} from '../ui/file-dialogs.tsx'
import { LARGEST_THUMBNAIL, previewKind } from '../ui/preview-kind.ts'
import { Uploads } from '../ui/uploads.tsx'
import { Windowed } from '../ui/windowed.tsx'
import { addUploads, restoreUploads, uploads } from '../uploads.ts'

const loadThumbnail = () => import('../ui/thumbnail.tsx')

/** A small picture of a file, and its kind until that is there. */
const Thumbnail = ({ id, label }: { id: string; label: string }) => {
  const { script } = useScript(loadThumbnail)
  return script ? <script.default id={id} label={label} /> : <>{label}</>
}

const BulkFiles = part(() => import('../ui/bulk-files.tsx'))

type FilePage = { items: StoredFile[]; next_cursor: string | null }
type FolderPage = { items: Folder[]; next_cursor: string | null }

/** Orders of the list, as the address and the API know them. */
const ORDERS = {
  '': { label: t('Newest first'), query: {} },
  oldest: { label: t('Oldest first'), query: { order: 'asc' } },
  name: { label: t('Name, A to Z'), query: { sort: 'name' } },
  'name-down': { label: t('Name, Z to A'), query: { sort: 'name', order: 'desc' } },
  largest: { label: t('Largest first'), query: { sort: 'size' } },
  smallest: { label: t('Smallest first'), query: { sort: 'size', order: 'asc' } },
} as const

type Order = keyof typeof ORDERS

const orderNow = (): Order => {
  const set = filter('order')
  return set in ORDERS ? (set as Order) : ''
}

/** Loads all folders: at most 1,000. */
const loadFolders = async (): Promise<Folder[]> => {
  const folders: Folder[] = []
  let cursor: string | undefined
  do {
    const query = { kind: 'folder' as const, limit: 100, ...(cursor && { cursor }) }
    const page = (await unwrap(api.GET('/console/files', { params: { query } }))) as FolderPage
    folders.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
  return folders.sort((a, b) => compare(a.name, b.name))
}

/** Height of a row and the gap below it, in rem. */
const ROW = () => 4

/** Extension of a name, as the label of its kind. */
const kindLabel = (name: string): string => /\.([a-z0-9]{1,4})$/i.exec(name)?.[1]?.toUpperCase() ?? 'FILE'

/** Reports whether the list shows a small picture of a file. People who save data get none. */
const isPictured = (file: StoredFile): boolean =>
  file.status === 'ready' &&
  file.size <= LARGEST_THUMBNAIL &&
  previewKind(file) === 'image' &&
  !(navigator as { connection?: { saveData?: boolean } }).connection?.saveData

/** Actions of the keys in a list. */
interface ListKeys {
  rename: (id: string) => void
  /** Selects a file, or takes it out of the selection. */
  toggle: (id: string, extend: boolean) => void
  all: () => void
  none: () => void
}

/** Moves the focus between the names of a list, and starts what a key stands for. */
const onListKey = (
  event: KeyboardEvent & { currentTarget: HTMLElement },
  { rename, toggle, all, none }: ListKeys,
): void => {
  const names = [...event.currentTarget.querySelectorAll<HTMLElement>('.name')]
  const at = names.indexOf(document.activeElement as HTMLElement)
  if (at < 0 || event.altKey) return
  if (event.ctrlKey || event.metaKey) {
    if (event.key !== 'a') return
    all()
    event.preventDefault()
    return
  }
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: names.length - 1 }[event.key]
  const row = names[at]?.closest<HTMLElement>('li')
  if (to !== undefined) {
    names[to]?.focus()
    names[to]?.scrollIntoView({ block: 'nearest' })
  } else if (event.key === 'F2' && row?.dataset.id) rename(row.dataset.id)
  else if (event.key === 'x' && row?.dataset.id) toggle(row.dataset.id, false)
  else if (event.key === 'X' && row?.dataset.id) toggle(row.dataset.id, true)
  else if (event.key === 'Escape') none()
  else if (event.key === 'Delete') row?.querySelector<HTMLElement>('button.danger')?.click()
  else return
  event.preventDefault()
}

/** Loads further pages when the end of the list comes near. */
const Further = ({ more }: { more: () => Promise<void> }) => {
  const end = useRef<HTMLParagraphElement>(null)
  const latest = useRef(more)
  latest.current = more
  useEffect(() => {
    let loading = false
    const observer = new IntersectionObserver(
      async ([entry]) => {
        if (!entry?.isIntersecting || loading) return
        loading = true
        await latest.current().catch(() => {})
        loading = false
        // The end may still be near.
        if (end.current) {
          observer.unobserve(end.current)
          observer.observe(end.current)
        }
      },
      { rootMargin: '600px' },
    )
    if (end.current) observer.observe(end.current)
    return () => observer.disconnect()
  }, [])
  return (
    <p ref={end} class="soft further" role="status">
      {t('Loading more…')}
    </p>
  )
}

type Open = { id: string; as: 'file' | 'rename' | 'move' }

const Rows = ({
  items,
  folders,
  named,
}: {
  items: readonly StoredFile[]
  folders: readonly Folder[]
  /** Shows the folder of each file. */
  named: boolean
}) => {
  const [open, setOpen] = useState<Open>()
  const [focus, setFocus] = useState('')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const last = useRef('')
  const chosen = items.filter(({ id }) => selected.has(id))
  const toggle = (id: string, extend: boolean): void => {
    const next = new Set(selected)
    const [from, to] = [last.current, id].map((one) => items.findIndex((item) => item.id === one)).sort((a, b) => a - b)
    // As in file managers, Shift selects everything up to here.
    if (extend && from !== undefined && from >= 0)
      for (const one of items.slice(from, (to ?? from) + 1)) next.add(one.id)
    else if (!next.delete(id)) next.add(id)
    last.current = id
    setSelected(next)
  }
  const all = () => setSelected(new Set(items.map(({ id }) => id)))
  const none = () => setSelected(new Set())
  const file = items.find(({ id }) => id === open?.id)
  const folderOf = (id: string | null): string => folders.find((folder) => folder.id === id)?.name ?? ''
  const close = () => setOpen(undefined)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons inside
    <div
      class="file-list"
      onKeyDown={(event) => onListKey(event, { rename: (id) => setOpen({ id, as: 'rename' }), toggle, all, none })}
      onFocusIn={({ target }) => setFocus((target as HTMLElement).closest<HTMLElement>('li')?.dataset.id ?? '')}
    >
      {chosen.length > 0 && <BulkFiles files={chosen} folders={folders} onAll={all} onNone={none} />}
      <Windowed items={items} heightOf={ROW} keep={focus}>
        {(one, placed) => (
          <li key={one.id} data-id={one.id} {...placed}>
            <div class="file-row">
              <input
                type="checkbox"
                class="select"
                aria-label={t('Select {name}', { name: visible(one.name) })}
                checked={selected.has(one.id)}
                onClick={(event) => toggle(one.id, event.shiftKey)}
              />
              <span class="kind" aria-hidden="true">
                {isPictured(one) ? <Thumbnail id={one.id} label={kindLabel(one.name)} /> : kindLabel(one.name)}
              </span>
              <span class="grow">
                <button type="button" class="quiet name" onClick={() => setOpen({ id: one.id, as: 'file' })}>
                  <Name>{one.name}</Name>
                </button>
                <span class="soft line">
                  {bytes(one.size)} · <Name>{one.created_by.name}</Name> · <When at={one.created_at} />
                  {named && one.folder_id && (
                    <>
                      {' '}
                      · <Name>{folderOf(one.folder_id)}</Name>
                    </>
                  )}
                </span>
              </span>
              {one.status === 'ready' ? (
                <Download id={one.id} name={one.name} as="icon" />
              ) : (
                <State name="pending" label={t('Upload pending')} />
              )}
              <DeleteFile file={one} quiet />
            </div>
          </li>
        )}
      </Windowed>
      {file && open?.as === 'file' && (
        <FileDialog
          file={file}
          onClose={close}
          onRename={() => setOpen({ id: file.id, as: 'rename' })}
          onMove={() => setOpen({ id: file.id, as: 'move' })}
        />
      )}
      {file && open?.as === 'rename' && <RenameFile file={file} onClose={close} />}
      {file && open?.as === 'move' && <MoveFile file={file} folders={folders} onClose={close} />}
    </div>
  )
}

const Folders = ({ folders }: { folders: readonly Folder[] }) => (
  <section class="section first" aria-labelledby="folders">
    <h2 id="folders">{t('Folders')}</h2>
    <ul class="folders">
      {folders.map(({ id, name }) => (
        <li key={id}>
          <a href={`#/files?folder=${id}`}>
            <Icon name="files" />
            <Name>{name}</Name>
          </a>
        </li>
      ))}
    </ul>
  </section>
)

/** Files that were dropped. A folder is dropped as an entry without content. */
const droppedFiles = (transfer: DataTransfer): { files: File[]; folders: number } => {
  const entries = [...transfer.items].filter(({ kind }) => kind === 'file')
  const files = entries.flatMap((entry) => (entry.webkitGetAsEntry()?.isDirectory ? [] : (entry.getAsFile() ?? [])))
  return { files, folders: entries.length - files.length }
}

export default function Files() {
  const folder = filter('folder')
  const q = filter('q')
  const order = orderNow()
  const picker = useRef<HTMLInputElement>(null)
  const [creating, setCreating] = useState(false)
  const [renaming, setRenaming] = useState(false)
  const [over, setOver] = useState(false)
  useEffect(restoreUploads, [])
  const owner = `${identity.value?.user.id} ${identity.value?.workspace.id}`
  const folders = useData<Folder[]>('files folders', loadFolders)
  // The start page searches in all folders.
  const within = folder || (q ? undefined : 'root')
  const files = usePages<StoredFile>(`files in ${folder} ${order} ${q}`, async (cursor) => {
    const query = {
      ...ORDERS[order].query,
      ...(within && { folder_id: within }),
      ...(q && { q }),
      limit: 100,
      ...(cursor && { cursor }),
    }
    return (await unwrap(api.GET('/console/files', { params: { query } }))) as FilePage
  })
  const here = folders.data?.find(({ id }) => id === folder)
  const shownFolders = (folders.data ?? []).filter(({ name }) => folded(name).includes(folded(q)))
  const mine = uploads.value.filter((one) => one.owner === owner)
  const send = (list: Iterable<File>): void => addUploads(list, owner, folder)
  const tooMany = files.failure?.status === 409
  return (
    <Screen
      // A folder is a screen of its own, whose heading takes the focus.
      key={folder}
      title={folder ? (here?.name ?? t('Folder')) : t('Files')}
      {...(folder && { back: { to: '/files', label: t('Files') } })}
      actions={
        <>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={({ currentTarget }) => {
              send([...(currentTarget.files ?? [])])
              currentTarget.value = ''
            }}
          />
          {!folder && (
            <button type="button" onClick={() => setCreating(true)}>
              {t('New folder')}
            </button>
          )}
          {here && (
            <>
              <button type="button" onClick={() => setRenaming(true)}>
                {t('Rename folder')}
              </button>
              <DeleteFolder folder={here} done={() => navigate('/files')} />
            </>
          )}
          <button type="button" class="primary" onClick={() => picker.current?.click()}>
            {t('Upload')}
          </button>
        </>
      }
    >
      {creating && <NewFolder onClose={() => setCreating(false)} />}
      {renaming && here && <RenameFolder folder={here} onClose={() => setRenaming(false)} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a place to drop files; the button does the same by keyboard */}
      <div
        class={over ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          if (!event.dataTransfer?.types.includes('Files')) return
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget as Node | null)) setOver(false)
        }}
        onDrop={(event) => {
          if (!event.dataTransfer) return
          event.preventDefault()
          setOver(false)
          const dropped = droppedFiles(event.dataTransfer)
          if (dropped.folders > 0) announce(t('Folders can’t be uploaded. Drop the files inside them.'))
          send(dropped.files)
        }}
      >
        <div class="filters file-filters">
          <search>
            <Search name="q" label={folder ? t('Search in this folder') : t('Search files')} />
          </search>
          <Field label={t('Sort by')}>
            {(field) => (
              <select
                {...field}
                value={order}
                onChange={({ currentTarget }) => setFilter('order', currentTarget.value)}
              >
                {Object.entries(ORDERS).map(([name, { label }]) => (
                  <option key={name} value={name}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <Uploads items={mine} />
        {!folder && shownFolders.length > 0 && <Folders folders={shownFolders} />}
        <section class="section first" aria-labelledby="files">
          <h2 id="files" class={folder ? 'unseen' : ''}>
            {folder ? t('Files') : q ? t('In all folders') : t('Not in a folder')}
          </h2>
          {tooMany ? (
            <Empty title={t('There are too many files to sort them this way.')}>
              <p>{t('Open a folder with fewer files, or sort by date.')}</p>
              <button type="button" onClick={() => setFilter('order', '')}>
                {t('Sort by date')}
              </button>
            </Empty>
          ) : (
            <Shown known={files} rows={4}>
              {({ items }) =>
                items.length > 0 ? (
                  <Rows items={items} folders={folders.data ?? []} named={!folder && q !== ''} />
                ) : files.more ? null : q ? (
                  <Empty title={t('No file matches')} />
                ) : (
                  <Empty icon="files" title={t('No files yet')}>
                    <p>
                      {t(
                        'Drop files here, or press Upload. Agents with permission to read files can read them. Files that agents save appear here, too.',
                      )}
                    </p>
                  </Empty>
                )
              }
            </Shown>
          )}
          {files.more && <Further key={`${folder} ${order} ${q}`} more={files.more} />}
          {(files.items?.length ?? 0) > 20 && !files.more && (
            <p class="soft">{t('{items} files', { items: count(files.items?.length ?? 0) })}</p>
          )}
        </section>
        <p class="drop-hint" aria-hidden="true">
          {t('Drop to upload')}
        </p>
      </div>
    </Screen>
  )
}
