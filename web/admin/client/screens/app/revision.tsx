import { useState } from 'preact/hooks'
import { safeUrl } from '../../../../session/text.ts'
import { type Screenshot, ScreenshotImage } from '../../../../ui/screenshot.tsx'
import { Logo, Name, Prose, When } from '../../../../ui/text.tsx'
import { diffWords } from '../../../../ui/text-diff.ts'
import { api, unwrap } from '../../api.ts'
import type { Dossier } from '../../dossier.ts'
import { Decide } from '../../ui/decide.tsx'
import { AcceptSimilarName, accepting } from './accept.tsx'
import { reloadApp } from './acts.tsx'

type App = Dossier['app']
type Revision = NonNullable<App['pending_revision']>
type Field = keyof Revision['changes']

/** Labels of the fields, in the order in which they are shown. */
const LABELS: Record<Field, string> = {
  name: 'Name',
  logo_url: 'Logo',
  summary: 'Summary',
  description: 'Description',
  homepage_url: 'Homepage',
  privacy_url: 'Privacy policy',
  install_url: 'Install page',
  redirect_uris: 'Redirect addresses',
  requested_scopes: 'Requested scopes',
  screenshots: 'Images',
}
const FIELDS = Object.keys(LABELS) as Field[]

const None = () => <span class="soft">none</span>

const Text = ({ before, after, side }: { before: string; after: string; side: 'before' | 'after' }) => (
  <p>
    {diffWords(before, after)
      .filter(({ kind }) => kind === 'same' || kind === (side === 'before' ? 'removed' : 'added'))
      .map(({ kind, text }, i) => {
        const words = <Name>{text}</Name>
        return kind === 'same' ? words : kind === 'removed' ? <del key={i}>{words}</del> : <ins key={i}>{words}</ins>
      })}
  </p>
)

const List = ({ own, other, mark: Mark }: { own: string[]; other: string[]; mark: 'del' | 'ins' }) =>
  own.length === 0 ? (
    <None />
  ) : (
    <ul class="plain-list">
      {own.map((item) => (
        <li key={item}>
          {other.includes(item) ? (
            <Name>{item}</Name>
          ) : (
            <Mark>
              <Name>{item}</Name>
            </Mark>
          )}
        </li>
      ))}
    </ul>
  )

/** Images of a listing. Marks captions of those that the other side lacks or describes otherwise. */
export const Images = ({
  own,
  other,
  mark: Mark,
}: {
  own: readonly Screenshot[]
  other: readonly Screenshot[]
  mark: 'del' | 'ins'
}) =>
  own.length === 0 ? (
    <None />
  ) : (
    <ol class="screenshots">
      {own.map((one) => {
        const same = other.find(({ id }) => id === one.id)
        const caption = <Name>{one.caption}</Name>
        return (
          <li key={one.id}>
            <ScreenshotImage {...one} captioned />
            <p>{same?.caption === one.caption ? caption : <Mark>{caption}</Mark>}</p>
          </li>
        )
      })}
    </ol>
  )

/** One side of a changed field: the live value or the new one. */
const Side = ({
  field,
  app,
  revision,
  side,
}: {
  field: Field
  app: App
  revision: Revision
  side: 'before' | 'after'
}) => {
  const mark = side === 'before' ? 'del' : 'ins'
  if (field === 'screenshots') {
    const [live, next = []] = [app.screenshots, revision.changes.screenshots]
    return side === 'before' ? (
      <Images own={live} other={next} mark={mark} />
    ) : (
      <Images own={next} other={live} mark={mark} />
    )
  }
  const [before, after] = [app[field], revision.changes[field] ?? null]
  const [own, other] = side === 'before' ? [before, after] : [after, before]
  if (Array.isArray(own)) return <List own={own} other={Array.isArray(other) ? other : []} mark={mark} />
  if (!own) return <None />
  const address = field.endsWith('_url') ? safeUrl(own as string) : undefined
  if (address)
    return (
      <>
        {field === 'logo_url' && (
          <p>
            <Logo name={app.name} path={side === 'before' ? app.logo_path : revision.logo_path} />
          </p>
        )}
        <Text before={String(before ?? '')} after={String(after ?? '')} side={side} />
        <a href={address} target="_blank" rel="noopener noreferrer">
          Open
          <span class="unseen">
            {' '}
            the {side === 'before' ? 'live' : 'new'} {LABELS[field].toLowerCase()}
          </span>
        </a>
      </>
    )
  return field === 'description' && !before ? (
    <Prose text={String(own)} />
  ) : (
    <Text before={String(before ?? '')} after={String(after ?? '')} side={side} />
  )
}

/** Changes of an approved app that wait for a decision: what is live next to what would be. */
export const RevisionReview = ({ app }: { app: App }) => {
  const [accepted, setAccepted] = useState(false)
  const revision = app.pending_revision
  if (!revision) return null
  const path = { params: { path: { id: app.id, rid: revision.id } } }
  const title = 'Changes that wait for review'
  return (
    <section class="section">
      <h2>{title}</h2>
      <p class="soft">
        Submitted <When at={revision.submitted_at} />. Customers see the live values until you decide.
        {revision.badge_withheld &&
          ' The app has no verified badge until then, because its name, logo or domain changes.'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
      <section class="table diff sides" tabIndex={0} aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Live</th>
              <th scope="col">New</th>
            </tr>
          </thead>
          <tbody>
            {FIELDS.filter((field) => revision.changes[field] !== undefined).map((field) => (
              <tr key={field}>
                <th scope="row">{LABELS[field]}</th>
                <td data-side="Live">
                  <Side field={field} app={app} revision={revision} side="before" />
                </td>
                <td data-side="New">
                  <Side field={field} app={app} revision={revision} side="after" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="actions">
        <Decide
          label="Approve changes"
          title={`Approve the changes of ${app.name}?`}
          tone="primary"
          done="Changes approved."
          act={async () => {
            await unwrap(api.POST('/admin/apps/{id}/revisions/{rid}/approve', { ...path, body: accepting(accepted) }))
            await reloadApp()
          }}
        >
          <p>They take effect at once, in the marketplace and on the consent page.</p>
          {revision.changes.name !== undefined && <AcceptSimilarName accepted={accepted} onAccept={setAccepted} />}
        </Decide>
        <Decide
          label="Reject changes"
          title={`Reject the changes of ${app.name}?`}
          tone="danger"
          reason={{ label: 'Reason', hint: 'Shown to the developer.' }}
          done="Changes rejected."
          act={async (reason) => {
            await unwrap(api.POST('/admin/apps/{id}/revisions/{rid}/reject', { ...path, body: { reason } }))
            await reloadApp()
          }}
        >
          <p>The app stays as it is. The developer sees your reason and can change it again.</p>
        </Decide>
      </div>
    </section>
  )
}
