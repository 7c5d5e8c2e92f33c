import 'turnwise/element';
import { askInPage } from '../ask.js';

askInPage();
