import type { ClientPackage } from '../../assets/client-package.ts'
import { html, type Html } from '../components/html.ts'

/**
 * How a program gets the typed client. A file rather than a URL: the lock file of a program would not accept what a newer
 * service serves.
 */
export function renderClientPackage({ fileName, url }: ClientPackage, baseUrl: string): Html {
  return html`<h2 id="typed-client">Typed client for JavaScript and TypeScript</h2>
    <p>
      Download the client of this version, commit the file, and install it. The file contains its guide,
      README.md.
    </p>
    <pre data-copy>
curl -fO ${baseUrl}${url}
npm install ./${fileName}</pre>`
}
