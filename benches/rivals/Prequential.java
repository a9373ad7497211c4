import com.yahoo.labs.samoa.instances.Instance;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import moa.classifiers.Classifier;
import moa.core.Example;
import moa.options.ClassOption;
import moa.streams.ArffFileStream;

/**
 * One of MOA's learners over an ARFF file: every row is predicted before its label is seen. Prints log-loss, error rate, rows,
 * and seconds of processor time of predicting and learning alone. The log-loss is the least of three: of the votes as
 * probabilities with a floor of 1e-15, of these with a thousandth of uniform mixed in, and of the votes as they are calibrated
 * on the rows so far, by Vovk's mixture of their powers with shares of uniform mixed in.
 *
 * <p>java -cp moa.jar Prequential.java "meta.AdaptiveRandomForest -s 30" rows.arff
 */
public class Prequential {
    private static final double[] POWERS = {0.125, 0.25, 0.5, 1, 2};
    private static final double[] SHARES = {0.001, 0.01, 0.1};

    /** Adds the log-losses of a row's votes to those of every power and share. */
    private static void calibrate(double[] votes, double sum, int label, int classes, double[] losses) {
        for (int i = 0; i < POWERS.length; i++) {
            double all = 0;
            for (double vote : votes) {
                all += vote > 0 ? Math.pow(vote / sum, POWERS[i]) : 0;
            }
            double own = label < votes.length && votes[label] > 0 ? Math.pow(votes[label] / sum, POWERS[i]) : 0;
            double truth = all > 0 ? own / all : 1.0 / classes;
            for (int j = 0; j < SHARES.length; j++) {
                losses[i * SHARES.length + j] -= Math.log((1 - SHARES[j]) * truth + SHARES[j] / classes);
            }
        }
    }

    /** The total log-loss of Vovk's mixture: -ln of the mean of e^-loss. */
    private static double mixture(double[] losses) {
        double least = Double.POSITIVE_INFINITY;
        for (double loss : losses) {
            least = Math.min(least, loss);
        }
        double mean = 0;
        for (double loss : losses) {
            mean += Math.exp(least - loss) / losses.length;
        }
        return least - Math.log(mean);
    }

    public static void main(String[] arguments) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(arguments[0], Classifier.class, null);
        ArffFileStream stream = new ArffFileStream(arguments[1], -1);
        stream.prepareForUse();
        learner.prepareForUse();
        learner.setModelContext(stream.getHeader());
        List<Example<Instance>> rows = new ArrayList<>();
        while (stream.hasMoreInstances()) {
            rows.add(stream.nextInstance());
        }
        int classes = stream.getHeader().numClasses();
        double floored = 0;
        double mixed = 0;
        double[] calibrated = new double[POWERS.length * SHARES.length];
        long wrong = 0;
        // MOA's TimingUtils reads the clock on the wall unless it is told otherwise.
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long begin = clock.getCurrentThreadCpuTime();
        for (Example<Instance> row : rows) {
            double[] votes = learner.getVotesForInstance(row);
            int label = (int) row.getData().classValue();
            double sum = 0;
            int best = 0;
            for (int k = 0; k < votes.length; k++) {
                // Some learners vote with NaN before they have seen a class.
                votes[k] = votes[k] > 0 && !Double.isInfinite(votes[k]) ? votes[k] : 0;
                sum += votes[k];
                best = votes[k] > votes[best] ? k : best;
            }
            double truth = sum > 0 ? (label < votes.length ? votes[label] / sum : 0) : 1.0 / classes;
            floored -= Math.log(Math.max(truth, 1e-15));
            mixed -= Math.log(0.999 * truth + 0.001 / classes);
            calibrate(votes, sum, label, classes, calibrated);
            wrong += best == label ? 0 : 1;
            learner.trainOnInstance(row);
        }
        double seconds = (clock.getCurrentThreadCpuTime() - begin) / 1e9;
        double n = rows.size();
        System.out.printf("%.17g %.17g %d %.6f%n", Math.min(Math.min(floored, mixed), mixture(calibrated)) / n, wrong / n, rows.size(), seconds);
    }
}
