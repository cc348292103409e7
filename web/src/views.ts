// Makes the views other than the timeline.

import {App, ViewPart} from './app';
import {EventsView} from './events';
import {FlameView} from './flame';
import {PathView} from './path';
import {SqlView} from './sql';
import {View} from './state';
import {SummaryView} from './summary';
import {TABLES, TableView} from './tables';

export function makeView(name: View, app: App): ViewPart&{root: HTMLElement} {
  switch (name) {
    case 'summary':
      return new SummaryView(app);
    case 'profile':
      return new FlameView(app);
    case 'path':
      return new PathView(app);
    case 'events':
      return new EventsView(app);
    case 'sql':
      return new SqlView(app);
    default:
      return new TableView(name, TABLES[name] ?? [], app);
  }
}
