import { t } from '../../../ui/messages.ts'
import { Logo, Name, Stars } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'

type App = Schemas['MarketplaceApp']

const Tile = ({ app }: { app: App }) => (
  <li>
    <a class="tile" href={`#/marketplace/${app.slug}`}>
      <span class="row">
        <Logo name={app.name} path={app.logo_path} />
        <span class="grow">
          <strong>
            <Name>{app.name}</Name>
          </strong>
          <span class="soft">
            <Name>{app.developer_name || t('Unnamed developer')}</Name>
            {app.verified && t(' · ✓ verified')}
            {app.similar_to.length > 0 && t(' · ! similar name')}
          </span>
        </span>
      </span>
      <p>
        <Name>{app.summary}</Name>
      </p>
      <span class="row">
        <span class="grow">
          <Stars rating={app.rating.average} count={app.rating.count} />
        </span>
        {app.installation ? (
          <span class="state good">
            ✓ {app.installation.upgrade_available ? t('Update available') : t('Installed')}
          </span>
        ) : (
          app.featured && <span class="state act">{t('Featured')}</span>
        )}
      </span>
    </a>
  </li>
)

/** Apps of the marketplace. */
export const Tiles = ({ apps }: { apps: readonly App[] }) => (
  <ul class="grid">
    {apps.map((app) => (
      <Tile key={app.id} app={app} />
    ))}
  </ul>
)
