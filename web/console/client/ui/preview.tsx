import { useCallback, useEffect, useState } from 'preact/hooks'
import { miniApp } from '../../../session/config.ts'
import { Failure, toFailure } from '../../../session/failure.ts'
import { safeUrl, sanitize, visible } from '../../../session/text.ts'
import { Boundary } from '../../../ui/boundary.tsx'
import { t } from '../../../ui/messages.ts'
import { Shown } from '../../../ui/screen.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { parseCsv } from './csv.ts'
import { Download } from './download.tsx'
import { Markdown } from './markdown.tsx'
import {
  decodeText,
  imageType,
  LARGEST_IMAGE,
  type PreviewKind,
  previewKind,
  readBytes,
  TEXT_READ,
} from './preview-kind.ts'

/** File as a list or a message names it. */
export interface PreviewedFile {
  id: string
  name: string
  content_type: string
  size: number
}

type Loaded = { image: string } | { text: string; cut: boolean } | { refusal: string }

const unreadable = (): Failure =>
  new Failure('no_connection', 0, t('The file couldn’t be loaded.'), t('Check your connection, then try again.'))

const asDataUrl = (bytes: Uint8Array, type: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(unreadable())
    reader.readAsDataURL(new Blob([bytes as BlobPart], { type }))
  })

/**
 * Loads what is shown. The content comes from the bucket and becomes text, or an image by the type that its bytes have. The
 * page's policy allows images from data only, which run no scripts.
 */
const load = async (id: string, kind: PreviewKind): Promise<Loaded> => {
  const query = {}
  const { download_url } = await unwrap(api.GET('/console/files/{id}/download', { params: { path: { id }, query } }))
  const url = safeUrl(download_url)
  const response = url ? await fetch(url, { credentials: 'omit' }).catch(() => undefined) : undefined
  if (!response?.ok) throw unreadable()
  const { bytes, cut } = await readBytes(response, kind === 'image' ? LARGEST_IMAGE : TEXT_READ).catch(() => {
    throw unreadable()
  })
  if (kind === 'image') {
    const type = imageType(bytes)
    if (!type || cut) return { refusal: t('This isn’t an image that can be shown. Download the file to examine it.') }
    return { image: await asDataUrl(bytes, type) }
  }
  const text = decodeText(bytes, cut)
  if (text === undefined) {
    return { refusal: t('This isn’t text in UTF-8, so it can’t be shown. Download the file to open it.') }
  }
  return { text: text.replace(/^\uFEFF/, ''), cut }
}

const MOST_ROWS = 500
const MOST_COLUMNS = 50

const Csv = ({ text, name }: { text: string; name: string }) => {
  const [head = [], ...rows] = parseCsv(text, MOST_ROWS + 1)
  const columns = Math.min(MOST_COLUMNS, Math.max(head.length, ...rows.map((row) => row.length), 1))
  const cells = Array.from({ length: columns }, (_, i) => i)
  return (
    <>
      <section
        class="table-scroll preview-area"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
        tabIndex={0}
        aria-label={t('Table of {name}', { name: visible(name) })}
      >
        <table>
          <thead>
            <tr>
              {cells.map((i) => (
                <th key={i} scope="col">
                  {visible(head[i] ?? '') || t('Column {value}', { value: i + 1 })}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                {cells.map((j) => (
                  <td key={j}>{visible(row[j] ?? '')}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length === MOST_ROWS && (
        <p class="soft">{t('The first {MOST_ROWS} rows. Download the file to see all of it.', { MOST_ROWS })}</p>
      )}
    </>
  )
}

/** Plain text, with deceptive characters escaped. */
const exact = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n')

const Content = ({ kind, shown, name }: { kind: PreviewKind; shown: Loaded; name: string }) => {
  const [broken, setBroken] = useState(false)
  if ('refusal' in shown) return <p class="soft">{shown.refusal}</p>
  if ('image' in shown) {
    return broken ? (
      <p class="soft">{t('The image is damaged. Download the file to examine it.')}</p>
    ) : (
      <p class="preview-image">
        <img src={shown.image} alt={sanitize(name)} onError={() => setBroken(true)} />
      </p>
    )
  }
  const { text, cut } = shown
  return (
    <>
      {kind === 'csv' ? (
        <Boundary kind="text" about={text} text={() => text}>
          <Csv text={text} name={name} />
        </Boundary>
      ) : kind === 'markdown' ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
        <section class="preview-area" tabIndex={0} aria-label={t('Content of {name}', { name: visible(name) })}>
          <Markdown text={text} />
        </section>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
        <section class="preview-area" tabIndex={0} aria-label={t('Content of {name}', { name: visible(name) })}>
          <pre class="preview-text">{exact(text)}</pre>
        </section>
      )}
      {cut && <p class="soft">{t('The beginning of the file. Download it to see all of it.')}</p>}
    </>
  )
}

/** Loads something while it is shown. Previews are large, so they aren't cached. */
const useLoaded = <T,>(id: string, request: () => Promise<T>) => {
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<{ data?: T; failure?: Failure; loading: boolean }>({ loading: true })
  useEffect(() => {
    let here = true
    request().then(
      (data) => here && setState({ data, loading: false }),
      (error) => here && setState({ failure: toFailure(error), loading: false }),
    )
    return () => {
      here = false
    }
  }, [id, turn])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  return { ...state, reload }
}

const Loading = ({ file, kind }: { file: PreviewedFile; kind: PreviewKind }) => {
  const known = useLoaded<Loaded>(file.id, () => load(file.id, kind))
  return (
    <Shown known={known} rows={5}>
      {(shown) => <Content kind={kind} shown={shown} name={file.name} />}
    </Shown>
  )
}

/** Time before its end at which an address is requested again. */
const RENEW_MS = 60_000

/** A link to the browser's own viewer, in a tab that can't reach this page. The address is renewed before it expires. */
const Pdf = ({ file }: { file: PreviewedFile }) => {
  const known = useLoaded<Schemas['Download']>(file.id, () =>
    unwrap(
      api.GET('/console/files/{id}/download', {
        params: { path: { id: file.id }, query: { inline: 'true' as const } },
      }),
    ),
  )
  const { data, reload } = known
  useEffect(() => {
    if (!data) return
    const timer = setTimeout(reload, Math.max(1_000, Date.parse(data.expires_at) - Date.now() - RENEW_MS))
    return () => clearTimeout(timer)
  }, [data, reload])
  return (
    <Shown known={known} rows={1}>
      {({ download_url }) => {
        const url = safeUrl(download_url)
        return url && !miniApp ? (
          <p>
            <a class="button" href={url} target="_blank" rel="noopener noreferrer">
              {t('Open PDF in a new tab')}
            </a>
          </p>
        ) : (
          <p class="soft">{t('Download the PDF to read it.')}</p>
        )
      }}
    </Shown>
  )
}

/** A file's content, as far as it can be shown. */
export const Preview = ({ file }: { file: PreviewedFile }) => {
  const kind = previewKind(file)
  if (kind === 'pdf') return <Pdf file={file} />
  if (kind) return <Loading file={file} kind={kind} />
  return (
    <div class="soft">
      <p>{t('There’s no preview for this kind of file.')}</p>
      <Download id={file.id} name={file.name} />
    </div>
  )
}
