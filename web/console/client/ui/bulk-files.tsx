import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { holdFocus, useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { api, unwrap } from '../api.ts'
import type { Folder, StoredFile } from './file-dialogs.tsx'

/** Requests at the same time. */
const AT_ONCE = 4

/** Pause between two downloads, so that the browser takes them for different ones. */
const BETWEEN_MS = 400

/**
 * Does something to each file, and goes on if one fails.
 * @throws the first failure, after all were tried
 */
const forEach = async (files: readonly StoredFile[], act: (file: StoredFile) => Promise<unknown>): Promise<void> => {
  const left = [...files]
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (let file = left.shift(); file; file = left.shift()) await act(file).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await refresh('files')
  if (failures.length > 0) throw failures[0]
}

const Move = ({
  files,
  folders,
  onClose,
  done,
}: {
  files: readonly StoredFile[]
  folders: readonly Folder[]
  onClose: () => void
  done: () => void
}) => {
  const [folder, setFolder] = useState('')
  const send = async (): Promise<void> => {
    const body = { folder_id: folder || null }
    await forEach(files, ({ id }) => unwrap(api.PATCH('/console/files/{id}', { params: { path: { id } }, body })))
    announce(t('{n, plural, one {# file moved.} other {# files moved.}}', { n: files.length }))
    done()
  }
  return (
    <Modal title={t('Move {n, plural, one {# file} other {# files}}', { n: files.length })} onClose={onClose}>
      <Form verb={t('Move')} send={send} done={onClose}>
        <Field label={t('Folder')}>
          {(field) => (
            <select {...field} value={folder} onChange={({ currentTarget }) => setFolder(currentTarget.value)}>
              <option value="">{t('Not in a folder')}</option>
              {folders.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Modal>
  )
}

/** Buttons that act on all selected files. */
export default function BulkFiles({
  files,
  folders,
  onAll,
  onNone,
}: {
  files: readonly StoredFile[]
  folders: readonly Folder[]
  /** Selects all files of the list. */
  onAll: () => void
  onNone: () => void
}) {
  const [isMoving, setMoving] = useState(false)
  const keepFocus = useRef(() => {})
  // The focus moves once the dialog is gone with these buttons.
  useLayoutEffect(() => () => keepFocus.current(), [])
  const { busy, failure, act } = useAction()
  const ready = files.filter(({ status }) => status === 'ready')
  const download = async (): Promise<void> => {
    for (const [i, { id }] of ready.entries()) {
      if (i > 0) await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
      const params = { path: { id }, query: {} }
      const { download_url } = await unwrap(api.GET('/console/files/{id}/download', { params }))
      const url = safeUrl(download_url)
      if (!url) continue
      const link = document.createElement('a')
      link.href = url
      link.rel = 'noopener noreferrer'
      link.click()
    }
    announce(t('{n, plural, one {# download started.} other {# downloads started.}}', { n: ready.length }))
  }
  return (
    <div class="bulk" role="toolbar" aria-label={t('Selected files')}>
      <strong role="status">{t('{n, plural, one {# selected} other {# selected}}', { n: files.length })}</strong>
      <span class="actions">
        <button type="button" onClick={onAll}>
          {t('Select all')}
        </button>
        <button type="button" onClick={onNone}>
          {t('Select none')}
        </button>
        <button type="button" aria-busy={busy} disabled={ready.length === 0} onClick={() => void act(download)}>
          {t('Download')}
        </button>
        <button type="button" onClick={() => setMoving(true)}>
          {t('Move')}
        </button>
        <Confirm
          label={t('Delete')}
          title={t('Delete {n, plural, one {# file} other {# files}}?', { n: files.length })}
          verb={t('Delete')}
          act={async () => {
            keepFocus.current = holdFocus(document.querySelector(`[data-id="${files[0]?.id}"]`))
            await forEach(files, ({ id }) => unwrap(api.DELETE('/console/files/{id}', { params: { path: { id } } })))
            announce(t('{n, plural, one {# file deleted.} other {# files deleted.}}', { n: files.length }))
            onNone()
          }}
        >
          <p>{t('People and agents in this workspace will lose access to them. You can’t undo this.')}</p>
        </Confirm>
      </span>
      {failure && <Problem failure={failure} />}
      {isMoving && <Move files={files} folders={folders} onClose={() => setMoving(false)} done={onNone} />}
    </div>
  )
}
