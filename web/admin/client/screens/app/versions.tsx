import { refresh } from '../../../../ui/data.ts'
import { Changes } from '../../../../ui/manifest-changes.tsx'
import { Empty } from '../../../../ui/screen.tsx'
import { Json, Name, Prose, State, When } from '../../../../ui/text.tsx'
import { api, unwrap } from '../../api.ts'
import type { Dossier, Version } from '../../dossier.ts'
import { Decide } from '../../ui/decide.tsx'

const VersionDecision = ({ app, version }: { app: string; version: Version }) => {
  const path = { params: { path: { id: app, vid: version.id } } }
  const again = () => refresh('app ', 'review', 'overview')
  return (
    <div class="actions">
      <Decide
        label="Approve version"
        title={`Approve version ${version.version}?`}
        tone="primary"
        done="Version approved."
        act={async () => {
          await unwrap(api.POST('/admin/apps/{id}/versions/{vid}/approve', path))
          await again()
        }}
      >
        <p>The developer can then promote it. Approval alone doesn’t promote it.</p>
      </Decide>
      <Decide
        label="Reject version"
        title={`Reject version ${version.version}?`}
        tone="danger"
        reason={{ label: 'Reason', hint: 'Shown to the developer.' }}
        done="Version rejected."
        act={async (reason) => {
          await unwrap(api.POST('/admin/apps/{id}/versions/{vid}/reject', { ...path, body: { reason } }))
          await again()
        }}
      >
        <p>The developer will see your reason and can publish another version.</p>
      </Decide>
    </div>
  )
}

/** Finds the version to compare with: the promoted one, or else the latest approved before this one. */
const baseVersion = (versions: readonly Version[], version: Version): Version | undefined => {
  const before = versions.slice(versions.indexOf(version) + 1)
  const approved = before.find(({ status }) => status === 'approved')
  return versions.find(({ promoted, id }) => promoted && id !== version.id) ?? approved
}

export const Versions = ({ dossier: { app, versions, more_versions } }: { dossier: Dossier }) => (
  <section class="section">
    <h2>Versions</h2>
    {versions.length === 0 ? (
      <Empty title="No published versions" />
    ) : (
      <ul class="rows">
        {versions.map((version) => {
          const from = baseVersion(versions, version)
          const waits = version.status === 'in_review'
          return (
            <li key={version.id}>
              <details class="entry" open={waits}>
                <summary>
                  <strong>{version.version}</strong> <State name={version.status} />{' '}
                  {version.promoted && <span class="state act">Promoted</span>}{' '}
                  <span class="soft">
                    <When at={version.created_at} />
                  </span>
                </summary>
                <div class="evidence">
                  {version.endpoint && (
                    <p>
                      Endpoint{' '}
                      <code>
                        <Name>{version.endpoint}</Name>
                      </code>
                    </p>
                  )}
                  {version.status_reason && (
                    <div class="note">
                      <Prose text={version.status_reason} />
                    </div>
                  )}
                  {from && <Changes from={from} to={version} />}
                  <details>
                    <summary>Manifest</summary>
                    <Json label={`Manifest of ${version.version}`} value={version.manifest} />
                  </details>
                  {waits && app.status === 'approved' && <VersionDecision app={app.id} version={version} />}
                </div>
              </details>
            </li>
          )
        })}
      </ul>
    )}
    {more_versions && <p class="hint">Older versions are not shown.</p>}
  </section>
)
